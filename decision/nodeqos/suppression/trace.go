package suppression

// CPUTrace is how a number of CPUs came about.
type CPUTrace struct {
	// Wanted by the budget: rounded up to whole CPUs.
	Wanted int `json:"wanted"`
	// Least is the floor of LeastCPUs.
	Least int `json:"least"`
	// Current is how many of the available CPUs best-effort pods have now, and Step by how many they may grow per round.
	Current int `json:"current"`
	Step    int `json:"step"`
	// Count that was chosen.
	Count int `json:"count"`
	// Limit that decided the count: budget, least, step or available.
	Limit string `json:"limit"`
	// Excluded CPUs by owner.
	Excluded []ExcludedCount `json:"excluded,omitempty"`
	// Pools the CPUs were taken from.
	Pools []PoolShare `json:"pools,omitempty"`
}

// ExcludedCount is how many CPUs one owner keeps.
type ExcludedCount struct {
	Owner string `json:"owner"`
	Count int    `json:"count"`
	List  string `json:"cpus,omitempty"`
}

// PoolShare is what one pool gives.
type PoolShare struct {
	// Pool is LSR, lent by its owners, or shared.
	Pool string `json:"pool"`
	// Available CPUs of the pool, and those taken of them.
	Available int    `json:"available"`
	Taken     int    `json:"taken"`
	List      string `json:"cpus,omitempty"`
	// WholeCores taken.
	WholeCores int `json:"wholeCores"`
}

// limit decides the count and says by what.
func (t *CPUTrace) limit(available int) {
	t.Count, t.Limit = t.Wanted, LimitBudget
	if t.Count < t.Least {
		t.Count, t.Limit = t.Least, LimitLeast
	}
	if most := max(t.Current+t.Step, t.Least); t.Count > most {
		t.Count, t.Limit = most, LimitStep
	}
	if t.Count > available {
		t.Count, t.Limit = available, LimitAvailable
	}
}
