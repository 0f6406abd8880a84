package kubectlplugin

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"

	"koordinator.sh/koord/kubectl-plugin/printer"
)

// Depths of an answer, each with what the one before it has.
const (
	// briefly is one sentence, at most five lines of evidence and at most three commands.
	briefly = 1 + iota
	// inFull is what explain prints.
	inFull
	// widely is what -o wide adds.
	widely
)

// explained is the output of a command that explains an object.
type explained struct {
	output
	depth int
}

func (o *explained) addFlags(cmd *cobra.Command) {
	o.output.addFlags(cmd, true)
	cmd.Flags().IntVar(&o.depth, depthFlag, inFull, "How much to answer: 1 briefly, 2 in full, 3 with all that -o wide shows; why answers briefly")
}

func (o *explained) complete() error {
	switch o.depth {
	case briefly, inFull:
	case widely:
		if o.format == "" {
			o.format = "wide"
		}
	default:
		return usage("--%s %d: must be %d to %d", depthFlag, o.depth, briefly, widely)
	}
	return o.output.complete()
}

// wide is true where all is shown.
func (o *explained) wide() bool { return o.format == "wide" || o.depth == widely }

// print writes the answer; for a person who wants it briefly, what brief returns of it, unless that is nil.
func (o *explained) print(
	s *session, obj runtime.Object, subject string, brief func(printer.Options) printer.Brief, people func(io.Writer, printer.Options) error,
) error {
	return o.output.print(s, obj, subject, func(w io.Writer, options printer.Options) error {
		if o.depth == briefly && !options.Wide && brief != nil {
			return brief(options).Print(w, options)
		}
		return people(w, options)
	})
}

// depthFlag is the flag of explain that why sets.
const depthFlag = "depth"

// askBriefly is the argument that makes explain answer briefly, unless a later one says otherwise.
var askBriefly = fmt.Sprintf("--%s=%d", depthFlag, briefly)
