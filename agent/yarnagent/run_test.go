package yarnagent

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"koordinator.sh/koord/agent/copilot"
	"koordinator.sh/koord/test/eventually"
)

// prepare makes the trees that the program needs.
func prepare(t *testing.T) *Options {
	t.Helper()
	options, directory := NewOptions(), t.TempDir()
	options.CgroupRoot, options.ServerEndpoint = filepath.Join(directory, "cgroup"), filepath.Join(directory, "run", "agent.sock")
	options.NodeManagerEndpoint = strings.TrimPrefix(newManager(t).URL, "http://")
	if err := os.MkdirAll(filepath.Join(options.CgroupRoot, "cpuacct", "kubepods", "besteffort"), 0o755); err != nil {
		t.Fatal(err)
	}
	return options
}

func TestTheProgramServesAndEnds(t *testing.T) {
	options := prepare(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, options) }()
	client := copilot.NewClient(options.ServerEndpoint)
	eventually.True(t, "the socket is served", func() bool {
		about, err := client.Information(t.Context())
		return err == nil && about == copilot.Information{Name: "yarn", Version: "v1"}
	})
	if info, err := os.Stat(options.ServerEndpoint); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket has mode %v, %v", info.Mode(), err)
	}
	if err := Run(t.Context(), options); err == nil || !strings.Contains(err.Error(), "another agent serves it") {
		t.Errorf("a second agent: %v", err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("Run() = %v", err)
	}
}

func TestASocketThatIsLeftIsReplacedAndAFileIsNot(t *testing.T) {
	options := prepare(t)
	listener, err := listen(t.Context(), options.ServerEndpoint)
	if err != nil {
		t.Fatal(err)
	}
	// As a program that is killed does.
	listener.(interface{ SetUnlinkOnClose(bool) }).SetUnlinkOnClose(false)
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := listen(t.Context(), options.ServerEndpoint)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(options.ServerEndpoint, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := listen(t.Context(), options.ServerEndpoint); err == nil || !strings.Contains(err.Error(), "no socket") {
		t.Errorf("listen() on a file = %v", err)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for name, test := range map[string]struct {
		change  func(*Options)
		wantErr string
	}{
		"the defaults":              {change: func(*Options) {}},
		"a relative socket":         {change: func(o *Options) { o.ServerEndpoint = "agent.sock" }, wantErr: "--server-endpoint"},
		"an endpoint without port":  {change: func(o *Options) { o.NodeManagerEndpoint = "localhost" }, wantErr: "--node-manager-endpoint"},
		"a period that is too long": {change: func(o *Options) { o.SyncCgroupPeriod = time.Hour }, wantErr: "--sync-cgroup-period"},
		"a grace period too long":   {change: func(o *Options) { o.KillGracePeriod = time.Minute }, wantErr: "--kill-grace-period"},
	} {
		t.Run(name, func(t *testing.T) {
			options := NewOptions()
			test.change(options)
			err := options.Validate()
			if test.wantErr == "" && err != nil || test.wantErr != "" && (err == nil || !strings.Contains(err.Error(), test.wantErr)) {
				t.Errorf("Validate() = %v, want %q", err, test.wantErr)
			}
		})
	}
	options := prepare(t)
	options.ContainerCgroupPath = "system.slice/yarn"
	if err := Run(t.Context(), options); err == nil || !strings.Contains(err.Error(), "--yarn-container-cgroup-path") {
		t.Errorf("a path that is not of best effort: %v", err)
	}
}
