package kubectlplugin

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/kubectl-plugin/printer"
)

// watchedWriter remembers whether anything was written to it.
type watchedWriter struct {
	io.Writer
	wrote bool
}

func (w *watchedWriter) Write(p []byte) (int, error) {
	w.wrote = w.wrote || len(p) > 0
	return w.Writer.Write(p)
}

// objectFormat is json or yaml when a command line asks for an answer that a program parses, else empty. It is read from the
// arguments because a wrong flag has to be reported as well.
func objectFormat(args []string) string {
	format := ""
	for i, arg := range args {
		if arg == "--" {
			break
		}
		value, given := strings.CutPrefix(arg, "--output=")
		if !given && (arg == "-o" || arg == "--output") && i+1 < len(args) {
			value, given = args[i+1], true
		}
		if !given && strings.HasPrefix(arg, "-o") {
			value, given = strings.TrimPrefix(strings.TrimPrefix(arg, "-o"), "="), true
		}
		if given {
			format = value
		}
	}
	if format == "json" || format == "yaml" {
		return format
	}
	return ""
}

// printErrorObject writes an error as a Status, as the API server answers, so that what parses standard output gets an
// object in any case.
func printErrorObject(w io.Writer, format string, err error, f failed) error {
	hint, code := f.advice(err)
	hint = printer.Called(f.program, hint)
	status := metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Message: err.Error(), Reason: metav1.StatusReasonUnknown,
	}
	if entry, ok := finding.Lookup(code); ok {
		status.Reason = metav1.StatusReason(entry.Name)
	} else if isUsage(err) {
		status.Reason = metav1.StatusReasonBadRequest
	}
	if code != "" || hint != "" {
		status.Details = &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: metav1.CauseType(code), Message: hint}}}
	}
	data, encodeErr := json.MarshalIndent(status, "", "    ")
	if encodeErr == nil && format == "yaml" {
		data, encodeErr = yaml.JSONToYAML(data)
	}
	if encodeErr != nil {
		return fmt.Errorf("encode the error: %w", encodeErr)
	}
	_, encodeErr = fmt.Fprintf(w, "%s\n", strings.TrimSuffix(string(data), "\n"))
	return encodeErr
}
