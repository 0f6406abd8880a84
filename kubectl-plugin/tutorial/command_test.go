package tutorial

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/messages"
)

func execute(t *testing.T, args ...string) (string, error) {
	t.Helper()
	t.Setenv("KOORD_STATE_HOME", t.TempDir())
	var out bytes.Buffer
	var ended []string
	cmd := NewCommand(genericiooptions.IOStreams{Out: &out, ErrOut: &out}, "koordctl", func() messages.Language { return messages.English },
		[]func() Tutorial{func() Tutorial { return harvest(nil, &ended) }})
	cmd.SetArgs(append([]string{}, args...)) // none are not those of the test
	cmd.SilenceErrors = true
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

func TestTutorialsAreListed(t *testing.T) {
	out, err := execute(t)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("NAME      DESCRIPTION\nharvest   Brings sheaves in\n", out); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
}

func TestATutorialThatCannotRunSaysWhatToDo(t *testing.T) {
	tests := map[string]struct {
		args     []string
		wantCode finding.Code
		wantHint string
	}{
		"an unknown tutorial":    {[]string{"sowing"}, finding.InvalidArgument, "koordctl tutorial"},
		"a wrong sandbox":        {[]string{"harvest", "--name", "A B"}, finding.InvalidArgument, "koordctl sandbox list"},
		"measured for too short": {[]string{"harvest", "--measure", "10ms"}, finding.InvalidArgument, "koordctl tutorial harvest --measure 1m"},
		"no sandbox":             {[]string{"harvest", "--name", "real"}, finding.SandboxNotRunning, "koordctl sandbox up --name real --real-node --nodes 0"},
		"by its other name":      {[]string{"crop", "--name", "real"}, finding.SandboxNotRunning, "koordctl sandbox up --name real --real-node --nodes 0"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := execute(t, tc.args...)
			var found *finding.Error
			if !errors.As(err, &found) || found.Code != tc.wantCode || !strings.HasPrefix(found.Hint, tc.wantHint) {
				t.Errorf("error = %v; want %s with hint %q", err, tc.wantCode, tc.wantHint)
			}
		})
	}
}
