package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	config   = `{"config":{"scanner_name":"govulncheck"}}`
	imported = `{"osv":{"id":"GO-2026-0002","summary":"A crash"}}
{"finding":{"osv":"GO-2026-0002","fixed_version":"v1.2.0","trace":[{"module":"example.org/m","version":"v1.1.0","package":"example.org/m/p"}]}}`
	requiredOnly = `{"finding":{"osv":"GO-2026-0003","fixed_version":"v1.2.0","trace":[{"module":"example.org/m","version":"v1.1.0"}]}}`
	standard     = `{"osv":{"id":"GO-2026-0004","summary":"A leak"}}
{"finding":{"osv":"GO-2026-0004","fixed_version":"v1.26.9","trace":[{"module":"stdlib","version":"v1.26.8","package":"net/http"}]}}`
	both = standard + `{"finding":{"osv":"GO-2026-0004","trace":[{"module":"golang.org/x/net","version":"v0.1.0","package":"golang.org/x/net/http2"}]}}`
)

func TestReport(t *testing.T) {
	tests := map[string]struct {
		in, accepted string
		want         string
		wantErr      string
	}{
		"nothing was checked":                     {wantErr: "there is none"},
		"no JSON":                                 {in: "govulncheck: no such file", wantErr: "read the output of govulncheck"},
		"nothing was found":                       {in: config, want: "no vulnerability has to be fixed"},
		"an imported package":                     {in: config + imported, want: "GO-2026-0002: A crash (example.org/m v1.1.0, fixed in v1.2.0)", wantErr: "1 vulnerabilities"},
		"an imported package, accepted":           {in: config + imported, accepted: "# why\nGO-2026-0002 not called", want: "GO-2026-0002 is accepted: not called"},
		"accepted without a reason":               {in: config + imported, accepted: "GO-2026-0002", wantErr: "line 1: want an id"},
		"accepted and not found":                  {in: config, accepted: "GO-2026-0002 not called", want: "GO-2026-0002 is accepted and was not found"},
		"a required module that is not imported":  {in: config + requiredOnly, want: "no vulnerability has to be fixed"},
		"the standard library":                    {in: config + standard, want: "GO-2026-0004 is in the Go that builds: A leak (stdlib v1.26.8, fixed in v1.26.9)"},
		"the standard library and a module of it": {in: config + both, want: "golang.org/x/net v0.1.0, fixed in no version", wantErr: "1 vulnerabilities"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			file := ""
			if test.accepted != "" {
				file = filepath.Join(t.TempDir(), "accepted.txt")
				if err := os.WriteFile(file, []byte(test.accepted), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var out strings.Builder
			err := run(strings.NewReader(test.in), &out, file)
			if (err == nil) != (test.wantErr == "") || err != nil && !strings.Contains(err.Error(), test.wantErr) {
				t.Errorf("error %v, want %q", err, test.wantErr)
			}
			if !strings.Contains(out.String(), test.want) {
				t.Errorf("printed %q, want %q", out.String(), test.want)
			}
		})
	}
}
