package cpuset

import "fmt"

// Trace records what Take looked at. The zero value is ready for use; a Trace serves one call at a time. A nil Trace
// records nothing.
type Trace struct {
	// Attempts in the order they were made; the last one that took something is the result, or the rest of it.
	Attempts []Attempt
	// Preferred CPUs that were used.
	Preferred int
}

// Attempt is one part of the machine that was looked at.
type Attempt struct {
	Level Level
	// ID of the NUMA node or socket.
	ID int
	// Free CPUs there, and those of them that the policy can use.
	Free, Usable int
	// Need is how many were asked of it.
	Need int
	// Taken is empty when it could not give them.
	Taken CPUSet
	// Broken is how many of the taken ones do not meet the policy.
	Broken int
}

// String says the attempt in a few words.
func (a Attempt) String() string {
	where := string(a.Level)
	if a.Level != LevelMachine {
		where = fmt.Sprintf("%s %d", a.Level, a.ID)
	}
	text := fmt.Sprintf("%s: %d CPUs free, %d usable, %d needed", where, a.Free, a.Usable, a.Need)
	if a.Taken.IsEmpty() {
		return text
	}
	text += ": took " + a.Taken.String()
	if a.Broken > 0 {
		text += fmt.Sprintf(", %d of them on cores that are not idle", a.Broken)
	}
	return text
}

func (t *Trace) tried(attempt Attempt) {
	if t != nil {
		t.Attempts = append(t.Attempts, attempt)
	}
}

func (t *Trace) preferred(count int) {
	if t != nil {
		t.Preferred = count
	}
}
