package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

func parse(t *testing.T, args ...string) (*Options, error) {
	t.Helper()
	options := NewOptions()
	flags := pflag.NewFlagSet("koord-bridge", pflag.ContinueOnError)
	options.AddFlags(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return options, options.Validate()
}

func TestOptions(t *testing.T) {
	tests := map[string]struct {
		args    []string
		wantErr []string
	}{
		"defaults but for where YARN is":   {args: []string{"--yarn-conf-dir=/etc/hadoop/conf"}},
		"no engine":                        {args: []string{"--yarn-conf-dir="}, wantErr: []string{"--yarn-conf-dir must name"}},
		"REST":                             {args: []string{"--yarn-conf-dir=x", "--yarn-protocol=rest"}},
		"a protocol that is none":          {args: []string{"--yarn-conf-dir=x", "--yarn-protocol=http"}, wantErr: []string{`--yarn-protocol "http" must be`}},
		"Slurm alone":                      {args: []string{"--slurm", "--yarn-conf-dir="}},
		"Slurm without partitions":         {args: []string{"--slurm", "--slurm-partition-prefix="}, wantErr: []string{"--slurm-partition-prefix must not"}},
		"a timeout with which YARN kills":  {args: []string{"--yarn-conf-dir=x", "--overcommit-timeout=0s"}, wantErr: []string{"--overcommit-timeout 0s"}},
		"a share beyond all":               {args: []string{"--yarn-conf-dir=x", "--share-percent=101"}, wantErr: []string{"--share-percent 101"}},
		"a period that is none":            {args: []string{"--yarn-conf-dir=x", "--sync-period=1ns"}, wantErr: []string{"--sync-period 1ns"}},
		"a Secret without a namespace":     {args: []string{"--yarn-conf-dir=x", "--cert-secret=x"}, wantErr: []string{"NAMESPACE/NAME"}},
		"everything that is wrong at once": {args: []string{"--yarn-conf-dir=", "--share-percent=-1", "--secure-port=70000"}, wantErr: []string{"--yarn-conf-dir", "--share-percent", "--secure-port"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := parse(t, test.args...)
			if (err != nil) != (len(test.wantErr) > 0) {
				t.Fatalf("Validate() = %v, want %q", err, test.wantErr)
			}
			for _, want := range test.wantErr {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("Validate() = %v, want %q", err, want)
				}
			}
		})
	}
}

// TestACapacityHasTimeToBeConfirmed: longer than a request to the engine may take, however short the period is.
func TestACapacityHasTimeToBeConfirmed(t *testing.T) {
	options, err := parse(t, "--yarn-conf-dir=x", "--sync-period=100ms", "--engine-timeout=7s")
	if err != nil {
		t.Fatal(err)
	}
	if got := options.settings().Args.Confirm; got <= 7*time.Second {
		t.Errorf("Confirm = %v", got)
	}
}

func TestTokens(t *testing.T) {
	file := func(content string) string {
		path := filepath.Join(t.TempDir(), "tokens")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tests := map[string]struct {
		file    string
		wantErr string
	}{
		"of a ResourceManager":  {file: file("HDTS\x00\x01\x01a\x02id\x02pw\x13RM_DELEGATION_TOKEN\x01s\x00")},
		"of HDFS":               {file: file("HDTS\x00\x01\x01a\x02id\x02pw\x15HDFS_DELEGATION_TOKEN\x01s\x00"), wantErr: "it has no RM_DELEGATION_TOKEN"},
		"a file that is none":   {file: file("PK"), wantErr: "does not begin with HDTS"},
		"a file that is absent": {file: filepath.Join(t.TempDir(), "none"), wantErr: "no such file"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			token, err := readToken(test.file)
			if test.wantErr == "" && (err != nil || string(token.Identifier) != "id") {
				t.Errorf("readToken() = %v, %v", token, err)
			}
			if test.wantErr != "" && (err == nil || !strings.Contains(err.Error(), test.wantErr)) {
				t.Errorf("readToken() = %v, want %q", err, test.wantErr)
			}
		})
	}
}
