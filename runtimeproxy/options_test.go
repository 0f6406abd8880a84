package runtimeproxy

import (
	"strings"
	"testing"
	"time"

	"koordinator.sh/koord/api/finding"
)

func TestOptionsThatCannotBeAreRefused(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*Options)
		// wantText of the error; empty for none.
		wantText string
	}{
		"the defaults":              {change: func(*Options) {}},
		"endpoints with a scheme":   {change: func(o *Options) { o.Endpoint, o.RuntimeEndpoint = "unix:///a.sock", "unix:///b.sock" }},
		"a relative endpoint":       {change: func(o *Options) { o.Endpoint = "a.sock" }, wantText: `"a.sock" must be the absolute path of a socket`},
		"one socket for both":       {change: func(o *Options) { o.Endpoint = "unix://" + o.RuntimeEndpoint }, wantText: "is already used by the container runtime"},
		"no directory of state":     {change: func(o *Options) { o.StateDirectory = "" }, wantText: `directory "" must be an absolute path`},
		"no directory of hooks":     {change: func(o *Options) { o.HookDirectory = "hooks" }, wantText: `directory "hooks" must be an absolute path`},
		"no time for hooks":         {change: func(o *Options) { o.HookTimeout = 0 }, wantText: "must be between 10ms and 1m0s"},
		"too much time for hooks":   {change: func(o *Options) { o.HookTimeout = time.Hour }, wantText: "must be between 10ms and 1m0s"},
		"metrics for everybody":     {change: func(o *Options) { o.MetricsAddress = "0.0.0.0:9319" }, wantText: "must be a loopback address"},
		"metrics without a port":    {change: func(o *Options) { o.MetricsAddress = "127.0.0.1" }, wantText: "metrics-bind-address"},
		"metrics on this host":      {change: func(o *Options) { o.MetricsAddress = "localhost:9319" }},
		"a mode that nobody has":    {change: func(o *Options) { o.Mode = "Podman" }, wantText: `backend-runtime-mode "Podman" must be Containerd`},
		"the mode of another proxy": {change: func(o *Options) { o.Mode = "Docker" }, wantText: "dockerd does not support CRI"},
	} {
		t.Run(name, func(t *testing.T) {
			options := NewOptions()
			test.change(options)
			err := options.validate()
			if (err != nil) != (test.wantText != "") || err != nil && !strings.Contains(err.Error(), test.wantText) {
				t.Errorf("error %v, want %q", err, test.wantText)
			}
		})
	}
}

// TestDockerIsRefusedWithWhatToUseInstead: a code, and a hint that can be followed.
func TestDockerIsRefusedWithWhatToUseInstead(t *testing.T) {
	for mode, wantHint := range map[Mode]string{
		"Docker": "--backend-runtime-mode=Containerd --remote-runtime-service-endpoint=/var/run/cri-dockerd.sock",
		"docker": "run cri-dockerd",
		"":       "omit --backend-runtime-mode",
	} {
		options := NewOptions()
		options.Mode = mode
		_, err := New(options)
		coded, is := finding.From(err)
		if !is || coded.Code != finding.InvalidArgument || !strings.Contains(coded.Hint, wantHint) {
			t.Errorf("mode %q: error %v is coded %+v, want %s with a hint of %q", mode, err, coded, finding.InvalidArgument, wantHint)
		}
	}
}
