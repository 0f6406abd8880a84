package kubectlplugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/kubectl-plugin/printer"
)

// printError writes an error as three lines at most: what failed, the next command to run, the code with its name. An
// interruption the user asked for is not an error to tell about.
func printError(w io.Writer, err error, style printer.Style, program string) {
	if err == nil || errors.Is(err, context.Canceled) && ExitCode(err) == ExitInterrupted {
		return
	}
	fmt.Fprintf(w, "%s %s\n", style.Paint(printer.Bad, "error:"), style.Clean(err.Error()))
	hint, code := advice(err)
	if rest, ours := strings.CutPrefix(hint, "koordctl "); ours {
		hint = program + " " + rest // packages below the commands do not know the name the program was called by
	}
	if hint != "" {
		fmt.Fprintf(w, "%s %s\n", style.Paint(printer.Dim, "hint:"), style.Clean(hint))
	}
	if code == "" {
		return
	}
	name := ""
	if entry, ok := finding.Lookup(code); ok {
		name = " " + entry.Name
	}
	fmt.Fprintln(w, style.Paint(printer.Dim, fmt.Sprintf("%s%s: see %s why %s", code, name, program, code)))
}

func advice(err error) (string, finding.Code) {
	if coded, ok := finding.From(err); ok {
		return coded.Hint, coded.Code
	}
	var usage *usageError
	if errors.As(err, &usage) && usage.command != "" {
		return fmt.Sprintf("see %s --help", usage.command), ""
	}
	return "", ""
}
