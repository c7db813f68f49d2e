//! The engine's memory, bounded, and with a memory of its own: a script can catch the error that an allocation fails
//! with, and the engine sometimes cannot even make that error, so the refusal itself is what counts.

use std::cell::Cell;
use std::ptr;
use std::rc::Rc;

use rquickjs::allocator::{Allocator, RustAllocator};

/// The limit, and whether it was met; shared with whoever sets the one and asks for the other.
#[derive(Debug)]
pub(super) struct Gauge {
    /// Bytes that may be in use. None until the engine stands, which does not survive a refusal before.
    pub limit: Cell<usize>,
    /// Whether an allocation was refused.
    pub refused: Cell<bool>,
}

impl Default for Gauge {
    fn default() -> Self {
        Self { limit: Cell::new(usize::MAX), refused: Cell::new(false) }
    }
}

/// Allocates up to a limit, and notes the first refusal.
pub(super) struct Bounded {
    used: usize,
    gauge: Rc<Gauge>,
}

impl Bounded {
    pub(super) fn new(gauge: Rc<Gauge>) -> Self {
        Self { used: 0, gauge }
    }

    /// Tells whether `more` bytes are left; notes it if not.
    fn admit(&mut self, more: usize) -> bool {
        let fits = self.used.checked_add(more).is_some_and(|sum| sum <= self.gauge.limit.get());
        if !fits {
            self.gauge.refused.set(true);
        }
        fits
    }

    /// Counts what was allocated; a null pointer means that the system had none left.
    fn count(&mut self, allocated: *mut u8) -> *mut u8 {
        if allocated.is_null() {
            self.gauge.refused.set(true);
        } else {
            self.used += size_of_allocation(allocated);
        }
        allocated
    }
}

#[expect(unsafe_code, reason = "the allocator trait is unsafe; the pointer is one that `RustAllocator` gave")]
fn size_of_allocation(allocated: *mut u8) -> usize {
    unsafe { RustAllocator::usable_size(allocated) }
}

#[expect(unsafe_code, reason = "the only way to bound the engine's memory and know of a refusal")]
// SAFETY: every pointer that is handed out comes from `RustAllocator` and goes back to it; null is handed out where
// the limit would be passed, which the trait allows.
unsafe impl Allocator for Bounded {
    fn alloc(&mut self, size: usize) -> *mut u8 {
        if !self.admit(size) {
            return ptr::null_mut();
        }
        let allocated = RustAllocator.alloc(size);
        self.count(allocated)
    }

    fn calloc(&mut self, count: usize, size: usize) -> *mut u8 {
        let Some(total) = count.checked_mul(size) else {
            self.gauge.refused.set(true);
            return ptr::null_mut();
        };
        if total == 0 || !self.admit(total) {
            return ptr::null_mut();
        }
        let allocated = RustAllocator.calloc(count, size);
        self.count(allocated)
    }

    unsafe fn dealloc(&mut self, pointer: *mut u8) {
        if pointer.is_null() {
            return;
        }
        self.used = self.used.saturating_sub(size_of_allocation(pointer));
        unsafe { RustAllocator.dealloc(pointer) }
    }

    unsafe fn realloc(&mut self, pointer: *mut u8, new_size: usize) -> *mut u8 {
        if pointer.is_null() {
            return self.alloc(new_size);
        }
        let before = size_of_allocation(pointer);
        if new_size > before && !self.admit(new_size - before) {
            return ptr::null_mut();
        }
        let moved = unsafe { RustAllocator.realloc(pointer, new_size) };
        // A failure leaves the old block as it was.
        if !moved.is_null() {
            self.used = self.used.saturating_sub(before);
        }
        self.count(moved)
    }

    unsafe fn usable_size(pointer: *mut u8) -> usize {
        size_of_allocation(pointer)
    }
}
