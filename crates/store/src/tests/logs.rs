//! Logs: order, pages, the cap.

use super::{Fixture, START, run};
use crate::{LogStream, StoreError};

use LogStream::{Stderr, Stdout};

#[test]
fn entries_come_back_in_order_with_time_and_stream() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let lease = store.create_run(&run()).unwrap();
    let mut log = store.log_writer(&lease);
    log.push(Stdout, START, "one\n");
    log.push(Stderr, START + 7, "two é\n");
    log.push(Stdout, START + 3, "clock went back\n");
    assert!(log.buffered() > 0);
    log.flush().unwrap();
    log.flush().unwrap();
    log.push(Stdout, START + 9, "no end of line");
    log.finish().unwrap();
    let page = fixture.another().log_page(lease.run(), 0, 100, None).unwrap();
    let seen: Vec<_> = page
        .entries
        .iter()
        .map(|entry| (entry.position, entry.stream, entry.at - START, entry.text.as_str()))
        .collect();
    assert_eq!(
        seen,
        [
            (0, Stdout, 0, "one\n"),
            (1, Stderr, 7, "two é\n"),
            (2, Stdout, 3, "clock went back\n"),
            (3, Stdout, 9, "no end of line")
        ]
    );
    assert_eq!((page.next, page.end, page.left_out), (4, 4, None));
    assert_eq!(store.log_text(lease.run(), Stdout).unwrap(), "one\nclock went back\nno end of line");
    assert_eq!(store.log_text(lease.run(), Stderr).unwrap(), "two é\n");
}

#[test]
fn pages_meet_without_gap_or_overlap() {
    let fixture = Fixture::new();
    let lease = fixture.store.create_run(&run()).unwrap();
    let mut log = fixture.store.log_writer(&lease);
    for n in 0..5_000 {
        log.push(if n % 3 == 0 { Stderr } else { Stdout }, START + n, &format!("line {n} {}\n", "x".repeat(40)));
        if n % 700 == 0 {
            log.flush().unwrap();
        }
    }
    log.finish().unwrap();
    for (stream, expected) in [(None, 5_000), (Some(Stderr), 1_667), (Some(Stdout), 3_333)] {
        let (mut from, mut seen) = (0, Vec::new());
        loop {
            let page = fixture.store.log_page(lease.run(), from, 333, stream).unwrap();
            if page.entries.is_empty() {
                assert_eq!(page.next, page.end);
                break;
            }
            assert!(page.next > from);
            from = page.next;
            seen.extend(page.entries.into_iter().map(|entry| entry.at - START));
        }
        assert_eq!(seen.len(), expected);
        assert!(seen.is_sorted());
    }
    assert_eq!(fixture.store.log_page(lease.run(), 1 << 60, 10, None).unwrap().next, 5_000);
}

#[test]
fn a_huge_piece_becomes_several_entries() {
    let fixture = Fixture::new();
    let lease = fixture.store.create_run(&run()).unwrap();
    let mut log = fixture.store.log_writer(&lease);
    let text = "é".repeat(500_000);
    log.push(Stdout, START, &text);
    log.finish().unwrap();
    assert_eq!(fixture.store.log_text(lease.run(), Stdout).unwrap(), text);
    assert!(fixture.store.log_page(lease.run(), 0, 1_000, None).unwrap().entries.len() > 10);
}

#[test]
fn the_middle_of_a_flood_is_left_out_and_counted() {
    let fixture = Fixture::new();
    let lease = fixture.store.create_run(&run()).unwrap();
    let mut log = fixture.store.log_writer(&lease);
    // 160 MiB, of which 128 stay.
    let piece = "0123456789abcde\n".repeat(4_096);
    for n in 0..2_560 {
        log.push(Stdout, START + n, &piece);
        if n % 16 == 15 {
            log.flush().unwrap();
        }
    }
    log.push(Stderr, START, "why it ended: flugzeug");
    log.finish().unwrap();
    let end = fixture.store.log_page(lease.run(), 2_555, 100, None).unwrap();
    assert_eq!(end.entries.len(), 6);
    let left_out = end.left_out.unwrap();
    assert_eq!(left_out.position, 1_024);
    assert!((512..=516).contains(&left_out.entries), "{left_out:?}");
    assert_eq!(left_out.bytes, left_out.entries * 65_536);
    let text = fixture.store.log_text(lease.run(), Stdout).unwrap();
    assert!(text.len() <= 129 * 1024 * 1024);
    assert!(text.contains(&format!("\n… {} bytes left out …\n0123", left_out.bytes)));
    let across = fixture.store.log_page(lease.run(), 1_020, 10, None).unwrap();
    let positions: Vec<_> = across.entries.iter().map(|entry| entry.position).collect();
    assert_eq!(positions[..5], [1_020, 1_021, 1_022, 1_023, 1_024 + left_out.entries]);

    // The end is searchable, though it lies far behind what is indexed while a run writes.
    let found = || fixture.store.search_runs("flugzeug", &crate::RunFilter::default(), None, 5).unwrap().len();
    assert_eq!(found(), 0);
    fixture.store.finish(&lease, super::runs::ends(::model::RunStatus::Success, None)).unwrap();
    assert_eq!(found(), 1);
}

#[test]
fn what_cannot_be_written_does_not_fill_the_memory() {
    let fixture = Fixture::new();
    let lease = fixture.store.create_run(&run()).unwrap();
    let mut log = fixture.store.log_writer(&lease);
    for _ in 0..100 {
        log.push(Stdout, START, &"x".repeat(60_000));
    }
    assert!(log.buffered() < 5_000_000);
    assert!(log.lost() > 0);
}

#[test]
fn a_broken_chunk_is_an_error() {
    let fixture = Fixture::new();
    let lease = fixture.store.create_run(&run()).unwrap();
    let mut log = fixture.store.log_writer(&lease);
    log.push(Stdout, START, "text");
    log.finish().unwrap();
    for data in ["x'01'", "x'0900'", "x'0100ffffffffffffffff7f41'", "x'01000441'", "x'010001ff'"] {
        fixture.raw().execute(&format!("UPDATE log_chunks SET data = {data}"), []).unwrap();
        let found = fixture.store.log_page(lease.run(), 0, 10, None);
        assert!(matches!(found, Err(StoreError::Damaged { .. })), "{data}: {found:?}");
    }
}
