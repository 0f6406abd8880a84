package check

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// Report is what `koordctl check -o json` prints, an object of kind CheckReport.
type Report struct {
	// Pre is true for a check before the installation.
	Pre bool `json:"pre,omitempty"`
	// Namespace the system is looked for in.
	Namespace string `json:"namespace"`
	// Client is the version of this program, Kubernetes that of the API server.
	Client     string `json:"client"`
	Kubernetes string `json:"kubernetes,omitempty"`
	// CheckedAt is when the facts were read.
	CheckedAt metav1.Time `json:"checkedAt"`
	// Summary counts the checks.
	Summary Summary `json:"summary"`
	// Checks that ran, category by category.
	Checks []Result `json:"checks"`
	// Capabilities are what the agents of the nodes report of their features; only with category node.
	Capabilities []Capability `json:"capabilities,omitempty"`
	// Incomplete names what could not be read, and why.
	Incomplete []string `json:"incomplete,omitempty"`
}

// Summary counts checks by state.
type Summary struct {
	Passed   int `json:"passed"`
	Warnings int `json:"warnings"`
	Failed   int `json:"failed"`
	Skipped  int `json:"skipped"`
	Unknown  int `json:"unknown"`
}

// String is the summary in one line.
func (s Summary) String() string {
	total := s.Passed + s.Warnings + s.Failed + s.Skipped + s.Unknown
	parts := []string{fmt.Sprintf("%d passed", s.Passed)}
	for _, count := range []struct {
		n    int
		word string
	}{{s.Warnings, "with warnings"}, {s.Failed, "failed"}, {s.Skipped, "skipped"}, {s.Unknown, "unknown"}} {
		if count.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count.n, count.word))
		}
	}
	return fmt.Sprintf("%d checks: %s", total, strings.Join(parts, ", "))
}

// Result is one check and what it found.
type Result struct {
	ID       string   `json:"id"`
	Category Category `json:"category"`
	Title    string   `json:"title"`
	State    State    `json:"state"`
	// Detail says in a few words what was seen, or why nothing was.
	Detail string `json:"detail,omitempty"`
	// Findings are what is wrong.
	Findings []Described `json:"findings,omitempty"`

	retry bool
}

// Described is a finding with what the catalogue says of it.
type Described struct {
	diagnosticsv1alpha1.Finding `json:",inline"`
	// Name of the code.
	Name string `json:"name,omitempty"`
	// Fix says what to do.
	Fix string `json:"fix,omitempty"`
	// Documentation is the page and anchor that describes the code.
	Documentation string `json:"documentation"`
}

// Help is the next command or edit, or the fix of the catalogue.
func (d *Described) Help() string {
	if d.Hint != "" {
		return d.Hint
	}
	return d.Fix
}

// NewReport judges the facts by the selected checks.
func NewReport(selection Selection, facts *Facts) *Report {
	report := &Report{
		Pre: selection.Before, Namespace: facts.Namespace, Client: facts.Client, CheckedAt: metav1.NewTime(facts.Now),
		Kubernetes: facts.Installation.Status.Kubernetes.Version, Checks: Run(All(), selection, facts), Incomplete: facts.incomplete(),
	}
	for i := range report.Checks {
		if report.Checks[i].ID == capabilitiesID {
			report.Capabilities = capabilities(facts.answering())
		}
		report.Summary.count(report.Checks[i].State)
	}
	return report
}

func (s *Summary) count(state State) {
	switch state {
	case Pass:
		s.Passed++
	case Warning:
		s.Warnings++
	case Failed:
		s.Failed++
	case Skipped:
		s.Skipped++
	default:
		s.Unknown++
	}
}

// Findings are those of all checks.
func (r *Report) Findings() []diagnosticsv1alpha1.Finding {
	var out []diagnosticsv1alpha1.Finding
	for i := range r.Checks {
		for _, f := range r.Checks[i].Findings {
			out = append(out, f.Finding)
		}
	}
	return out
}

// pending says whether waiting may help: a check failed that may be retried.
func (r *Report) pending() bool {
	for i := range r.Checks {
		if c := &r.Checks[i]; c.State == Failed && c.retry {
			return true
		}
	}
	return false
}
