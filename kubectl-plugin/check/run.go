package check

import (
	"slices"
	"strings"

	"koordinator.sh/koord/api/finding"
)

// Selection is which checks run.
type Selection struct {
	// Categories to report.
	Categories []Category
	// Before runs what applies before the installation instead of what applies after.
	Before bool
}

// Run judges the facts by the selected checks, and by those they need.
func Run(checks []Check, selection Selection, facts *Facts) []Result {
	r := runner{checks: checks, facts: facts, outcomes: map[string]Outcome{}}
	var results []Result
	for _, category := range selection.Categories {
		for i := range checks {
			if c := &checks[i]; c.Category == category && c.Stage.applies(selection.Before) {
				results = append(results, resultOf(c, r.outcome(c)))
			}
		}
	}
	return results
}

// runner judges each check once.
type runner struct {
	checks   []Check
	facts    *Facts
	outcomes map[string]Outcome
}

func (r *runner) outcome(c *Check) Outcome {
	if known, judged := r.outcomes[c.ID]; judged {
		return known
	}
	outcome, skipped := r.skipped(c)
	if !skipped {
		outcome = c.Judge(r.facts)
	}
	r.outcomes[c.ID] = outcome
	return outcome
}

// skipped is the outcome of a check that lacks what it needs.
func (r *runner) skipped(c *Check) (Outcome, bool) {
	for _, id := range c.Needs {
		i := slices.IndexFunc(r.checks, func(other Check) bool { return other.ID == id })
		if i < 0 {
			continue // a test holds that there is none
		}
		switch r.outcome(&r.checks[i]).State {
		case Failed:
			return skip("%s failed", id), true
		case Skipped:
			return skip("%s was skipped", id), true
		}
	}
	return Outcome{}, false
}

func resultOf(c *Check, outcome Outcome) Result {
	result := Result{ID: c.ID, Category: c.Category, Title: c.Title, State: outcome.State, Detail: outcome.Detail, retry: c.Retry}
	for _, f := range outcome.Findings {
		described := Described{Finding: f, Documentation: "docs/codes.md#" + strings.ToLower(f.Code)}
		if entry, known := finding.Lookup(finding.Code(f.Code)); known {
			described.Name, described.Fix = entry.Name, entry.Fix.English
		}
		result.Findings = append(result.Findings, described)
	}
	return result
}
