package tui

import tea "charm.land/bubbletea/v2"

// conclusion is the end of something that was done, and says what became of it wherever the user is by then.
type conclusion interface{ conclude() tea.Cmd }

// refreshMsg asks for everything the current view shows, again.
type refreshMsg struct{}

// skeletonMsg redraws a view that waits for its first answer.
type skeletonMsg struct{}

// flashMsg ends the flash of its number.
type flashMsg struct{ number uint64 }
