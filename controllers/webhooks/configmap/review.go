package configmap

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/decision/config/configuration"
	"koordinator.sh/koord/decision/scheduling/loadaware"
)

const (
	// maxRefusals bounds the errors that a refusal lists, and maxWarnings the warnings: the API server cuts longer answers.
	maxRefusals = 20
	maxWarnings = 10
	// maxWarningBytes bounds one warning; the API server drops longer ones.
	maxWarningBytes = 250
)

// Verdict is what is answered to a write.
type Verdict struct {
	// Refusal says why the write is refused, with every error; empty for one that is admitted.
	Refusal string
	// Warnings to show to the writer.
	Warnings []string
}

// Context is what a configuration is judged by beside its text. The zero value judges by the text alone.
type Context struct {
	// Nodes that strategies select from.
	Nodes []*corev1.Node
	// LoadAware is the scheduler's arguments; nil stands for their defaults.
	LoadAware *loadaware.Args
	// Descheduler is what koord-descheduler moves pods by; none when it is not installed.
	Descheduler []configuration.Descheduler
	// Features of the node agent by name; nil when unknown.
	Features map[string]bool
}

// Review judges a write of the data over the data before, which is nil for a new ConfigMap. An existing error in a key that does not
// change does not refuse the write, because otherwise keys could not be mended one by one. It is a warning then.
func Review(before, data map[string]string, in Context) Verdict {
	found := configuration.Validate(configuration.Input{Data: data, Nodes: in.Nodes, LoadAware: in.LoadAware, Descheduler: in.Descheduler, Features: in.Features})
	var errs []string
	var verdict Verdict
	omitted := 0
	for i := range found {
		f := &found[i]
		text, existed := before[f.Key]
		switch same := existed && text == data[f.Key]; {
		case f.Rejects() && !same:
			errs = append(errs, line(f))
		case len(verdict.Warnings) < maxWarnings:
			verdict.Warnings = append(verdict.Warnings, cut(line(f)))
		default:
			omitted++
		}
	}
	if omitted > 0 {
		verdict.Warnings = append(verdict.Warnings, fmt.Sprintf("%d more; run koordctl config lint to list all", omitted))
	}
	if len(errs) > 0 {
		verdict.Refusal = refusal(errs)
	}
	return verdict
}

// refusal lists the errors, one a line.
func refusal(errs []string) string {
	more := ""
	noun := "error"
	if len(errs) > 1 {
		noun = "errors"
	}
	head := fmt.Sprintf("the configuration has %d %s:", len(errs), noun)
	if len(errs) > maxRefusals {
		more = fmt.Sprintf("\n  and %d more", len(errs)-maxRefusals)
		errs = errs[:maxRefusals]
	}
	return head + "\n  " + strings.Join(errs, "\n  ") + more
}

// line is a finding on one line: its code, where it stands, and what it is.
func line(f *configuration.Finding) string {
	where := f.Where()
	if f.Line > 0 {
		where += fmt.Sprintf(" (line %d)", f.Line)
	}
	return fmt.Sprintf("%s %s: %s", f.Code, where, strings.ReplaceAll(f.Message, "\n", " "))
}

func cut(text string) string {
	if len(text) <= maxWarningBytes {
		return text
	}
	return strings.ToValidUTF8(text[:maxWarningBytes-3], "") + "..."
}
