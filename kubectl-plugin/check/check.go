package check

import (
	"fmt"
	"strings"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
)

// Category groups checks; it is what a user names to run a part of them.
type Category string

// Categories.
const (
	// Kubernetes is the cluster and what is installed in it: versions, definitions, the diagnostics API.
	Kubernetes Category = "kubernetes"
	// Node is what the nodes are, and what their kernels support.
	Node Category = "node"
	// Scheduler is koord-scheduler, koord-descheduler and koord-bridge.
	Scheduler Category = "scheduler"
	// Manager is koord-manager.
	Manager Category = "manager"
	// Agent is koordlet and what it reports.
	Agent Category = "agent"
	// Webhook is the admission webhooks: certificates, endpoints, scope.
	Webhook Category = "webhook"
	// Config is slo-controller-config and how it fits with the other components.
	Config Category = "config"
)

// Categories are all categories in the order in which they are printed.
func Categories() []Category {
	return []Category{Kubernetes, Node, Scheduler, Manager, Agent, Webhook, Config}
}

// Stage says when a check applies.
type Stage int

const (
	// Installed checks apply once the system is installed; the default.
	Installed Stage = iota
	// BeforeInstall checks apply only before: what installing needs.
	BeforeInstall
	// Always checks apply before and after.
	Always
)

// applies says whether what has this stage is part of a run before or after the installation.
func (s Stage) applies(before bool) bool { return s == Always || before == (s == BeforeInstall) }

// Check is one thing that is verified.
type Check struct {
	// ID is stable and kebab-case; JUnit, JSON and the needs of other checks name it.
	ID string
	// Category it is printed in.
	Category Category
	// Title says what is so when the check passes, as a sentence without a full stop.
	Title string
	// Needs are the IDs of checks without whose success this one says nothing: when one of them fails or is skipped, it is skipped. One
	// whose state is unknown skips nothing, for what a user may not read may well work.
	Needs []string
	// Stage says when the check applies; Installed by default.
	Stage Stage
	// Retry is true for what passes by itself when time goes by, such as a rollout. --wait waits for these.
	Retry bool
	// Codes are the finding codes that the check reports.
	Codes []finding.Code
	// Judge looks at the facts. It has no side effects.
	Judge func(*Facts) Outcome
}

// State of a check.
type State string

// States.
const (
	// Pass means that it is as the title says.
	Pass State = "Pass"
	// Warning means that it works, but not as well as it should.
	Warning State = "Warning"
	// Failed means that something does not work.
	Failed State = "Failed"
	// Skipped means that there is nothing to check, or that a check before it failed.
	Skipped State = "Skipped"
	// Unknown means that what it depends on could not be read.
	Unknown State = "Unknown"
)

// Outcome is what a check found.
type Outcome struct {
	State State
	// Detail says in a few words what was seen, or why nothing was.
	Detail string
	// Findings are what is wrong.
	Findings []diagnosticsv1alpha1.Finding
}

// pass is the outcome of a check that found nothing wrong.
func pass(format string, args ...any) Outcome {
	return Outcome{State: Pass, Detail: fmt.Sprintf(format, args...)}
}

// skip is the outcome of a check that has nothing to look at.
func skip(format string, args ...any) Outcome {
	return Outcome{State: Skipped, Detail: fmt.Sprintf(format, args...)}
}

// unknown is the outcome of a check whose facts could not be read.
func unknown(reasons ...string) Outcome {
	return Outcome{State: Unknown, Detail: strings.Join(reasons, "; ")}
}

// judged is the outcome that the severities of findings make; without a warning or an error the check passed.
func judged(detail string, found []diagnosticsv1alpha1.Finding) Outcome {
	out := Outcome{State: Pass, Detail: detail, Findings: found}
	for i := range found {
		switch found[i].Severity {
		case diagnosticsv1alpha1.SeverityError:
			out.State = Failed
			return out
		case diagnosticsv1alpha1.SeverityWarning:
			out.State = Warning
		}
	}
	return out
}

// report makes a finding with the severity of the catalogue. Without a hint the fix of the catalogue is printed.
func report(code finding.Code, hint, format string, args ...any) diagnosticsv1alpha1.Finding {
	return diagnosticsv1alpha1.Finding{
		Code: string(code), Severity: diagnosticsv1alpha1.Severity(code.Severity()), Message: fmt.Sprintf(format, args...), Hint: hint,
	}
}
