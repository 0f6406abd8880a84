package tui

// refreshMsg asks for everything the current view shows, again.
type refreshMsg struct{}

// skeletonMsg redraws a view that waits for its first answer.
type skeletonMsg struct{}

// flashMsg ends the flash of its number.
type flashMsg struct{ number uint64 }
