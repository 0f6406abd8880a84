package failon

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

func TestCheck(t *testing.T) {
	warning := []diagnosticsv1alpha1.Finding{{Code: "KOORD0209", Severity: diagnosticsv1alpha1.SeverityWarning}}
	tests := map[string]struct {
		flag  Flag
		found []diagnosticsv1alpha1.Finding
		want  string
	}{
		"unset":           {"", warning, ""},
		"below":           {"error", warning, ""},
		"at":              {"warning", warning, "findings at or above warning: KOORD0209"},
		"above":           {"info", warning, "findings at or above info: KOORD0209"},
		"nothing to find": {"info", nil, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := tc.flag.Check(tc.found); err != nil {
				got = err.Error()
			}
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestSeveritiesAreOrdered(t *testing.T) {
	found := []diagnosticsv1alpha1.Finding{
		{Code: "KOORD0205", Severity: diagnosticsv1alpha1.SeverityInfo},
		{Code: "KOORD0209", Severity: diagnosticsv1alpha1.SeverityWarning},
		{Code: "KOORD0203", Severity: diagnosticsv1alpha1.SeverityError},
		{Code: "KOORD9998", Severity: "fatal"}, // of a server that is newer
	}
	for flag, want := range map[Flag]string{
		"error": "KOORD0203", "warning": "KOORD0209, KOORD0203", "info": "KOORD0205, KOORD0209, KOORD0203",
	} {
		err := flag.Check(found)
		if err == nil || err.Error() != fmt.Sprintf("findings at or above %s: %s", flag, want) {
			t.Errorf("%s: %v, want %s", flag, err, want)
		}
	}
}

func TestTheExitCodeIsThatOfFindings(t *testing.T) {
	flag := Flag("info")
	err := fmt.Errorf("explain: %w", flag.Check([]diagnosticsv1alpha1.Finding{{Code: "KOORD0205", Severity: diagnosticsv1alpha1.SeverityInfo}}))
	var found *Error
	if !errors.As(err, &found) || found.ExitCode() != 79 {
		t.Errorf("%v has not exit code 79", err)
	}
}

func TestTheFlagTakesSeveritiesAlone(t *testing.T) {
	for value, want := range map[string]string{
		"": "", "info": "", "warning": "", "error": "", "fatal": `--fail-on "fatal": must be error, warning or info`, "Error": `--fail-on "Error": must be error, warning or info`,
	} {
		var flag Flag
		cmd := &cobra.Command{Use: "lint"}
		flag.AddTo(cmd)
		if err := cmd.ParseFlags([]string{"--fail-on", value}); err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := flag.Validate(); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
		complete, _ := cmd.GetFlagCompletionFunc("fail-on")
		if words, _ := complete(cmd, nil, ""); strings.Join(words, " ") != "info warning error" {
			t.Errorf("completes %q", words)
		}
	}
}
