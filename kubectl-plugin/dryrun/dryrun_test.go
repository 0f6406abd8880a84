package dryrun

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// parse returns the flag that a command line sets.
func parse(t *testing.T, args ...string) (Flag, error) {
	t.Helper()
	var flag Flag
	cmd := &cobra.Command{Use: "apply", Run: func(*cobra.Command, []string) {}}
	flag.AddTo(cmd, "Write nothing")
	err := cmd.ParseFlags(args)
	return flag, err
}

func TestTheFlagIsThatOfKubectl(t *testing.T) {
	tests := map[string]struct {
		args       []string
		want       Flag
		wantOn     bool
		wantSuffix string
		wantErr    string
	}{
		"unset":            {nil, None, false, "", ""},
		"none":             {[]string{"--dry-run=none"}, None, false, "", ""},
		"without a value":  {[]string{"--dry-run"}, Server, true, " (server dry run)", ""},
		"client":           {[]string{"--dry-run=client"}, Client, true, " (dry run)", ""},
		"server":           {[]string{"--dry-run=server"}, Server, true, " (server dry run)", ""},
		"as kubectl of 18": {[]string{"--dry-run=true"}, "true", false, "", `--dry-run "true": must be none, client or server`},
		"empty":            {[]string{"--dry-run="}, "", false, "", `--dry-run "": must be none, client or server`},
		"in capitals":      {[]string{"--dry-run=Client"}, "Client", false, "", `--dry-run "Client": must be none, client or server`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			flag, err := parse(t, tc.args...)
			if err != nil {
				t.Fatal(err)
			}
			text := ""
			if err := flag.Validate(); err != nil {
				text = err.Error()
			}
			if flag != tc.want || flag.On() != tc.wantOn || flag.Suffix() != tc.wantSuffix || text != tc.wantErr {
				t.Errorf("flag %q, on %t, suffix %q, error %q", flag, flag.On(), flag.Suffix(), text)
			}
		})
	}
}

func TestTheFlagSaysWhatItDoesAndCompletesItsValues(t *testing.T) {
	var flag Flag
	cmd := &cobra.Command{Use: "apply"}
	flag.AddTo(cmd, "Write nothing")
	usage := cmd.Flags().Lookup("dry-run").Usage
	if !strings.HasPrefix(usage, "Write nothing: none, client or server") {
		t.Errorf("usage %q", usage)
	}
	complete, found := cmd.GetFlagCompletionFunc("dry-run")
	if !found {
		t.Fatal("no completion")
	}
	got, directive := complete(cmd, nil, "")
	if strings.Join(got, " ") != "none client server" || directive != cobra.ShellCompDirectiveNoFileComp {
		t.Errorf("completes %q, %v", got, directive)
	}
}
