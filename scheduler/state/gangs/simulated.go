package gangs

// Simulated is true: nothing is placed by what a View says.
func (v *View) Simulated() bool { return true }

// Simulated is false: it is what pods are placed by.
func (s *State) Simulated() bool { return false }
