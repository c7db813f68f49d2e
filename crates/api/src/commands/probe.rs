//! The Dock's test: started, and watched stage by stage.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::dock::launch;
use crate::wire::dock::{DockTest, DockTestRequest, DockTested, DockTestedRequest, DockTesting};
use crate::{Answer, Api, ApiError, ApiErrorCode};

/// How long one question after a test waits for news. A test that hangs is ended by whoever makes it.
const PATIENCE: Duration = Duration::from_secs(20);
/// Tests that are remembered: nobody looks at older ones any more.
const REMEMBERED: u64 = 20;

/// The tests of one window.
#[derive(Debug, Default)]
pub(crate) struct Tests {
    next: u64,
    known: HashMap<u64, Arc<Test>>,
}

/// A test, and whoever waits for its news.
#[derive(Debug)]
struct Test {
    state: Mutex<DockTested>,
    news: Condvar,
}

impl Test {
    fn state(&self) -> MutexGuard<'_, DockTested> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, so_far: &DockTest, over: bool) {
        *self.state() = DockTested { over, so_far: so_far.clone() };
        self.news.notify_all();
    }
}

pub(super) fn dock_test(api: &Api, request: DockTestRequest) -> Answer<DockTesting> {
    let project = api.project(&request.server)?;
    if let Some(why) = api.host.why_not_served(project.kind) {
        return Err(ApiError::new(ApiErrorCode::Unsupported, why));
    }
    if !project.path.is_dir() {
        return Err(ApiError::new(
            ApiErrorCode::ProjectMissing,
            format!("the folder `{}` is gone", project.path.display()),
        ));
    }
    let (launch, _) = launch(api, &project, None)?;
    let empty = DockTest {
        ok: false,
        stages: Vec::new(),
        tools: Vec::new(),
        total_ms: 0.0,
        stderr: None,
        hint: None,
        command: String::new(),
    };
    let test = Arc::new(Test { state: Mutex::new(DockTested { over: false, so_far: empty }), news: Condvar::new() });
    let id = {
        let mut tests = api.tests.lock().unwrap_or_else(PoisonError::into_inner);
        let id = tests.next;
        tests.next += 1;
        tests.known.retain(|known, _| id - known < REMEMBERED);
        tests.known.insert(id, Arc::clone(&test));
        id
    };
    let host = Arc::clone(&api.host);
    std::thread::Builder::new()
        .name("dock test".into())
        .spawn(move || {
            let whole = host.test(&launch, &mut |so_far| test.tell(so_far, false));
            test.tell(&whole, true);
        })
        .map_err(|error| ApiError::internal(format!("a thread cannot be started: {error}")))?;
    Ok(DockTesting { test: id.to_string() })
}

pub(super) fn dock_tested(api: &Api, request: DockTestedRequest) -> Answer<DockTested> {
    let known = request
        .test
        .parse()
        .ok()
        .and_then(|id: u64| api.tests.lock().unwrap_or_else(PoisonError::into_inner).known.get(&id).cloned());
    let test = known.ok_or_else(|| ApiError::not_found(format!("there is no test `{}`", request.test)))?;
    let seen = request.seen as usize;
    let (state, _) = test
        .news
        .wait_timeout_while(test.state(), PATIENCE, |state| !state.over && state.so_far.stages.len() <= seen)
        .unwrap_or_else(PoisonError::into_inner);
    Ok(state.clone())
}
