package runtimeproxy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/runtimeproxy/hookapi"
)

// Bounds on registrations.
const (
	// lookEvery is how often the directory of registrations is read.
	lookEvery = time.Second
	// largestRegistration is the most that is read of one file, in bytes.
	largestRegistration = 64 << 10
	// mostRegistrations are read of a directory.
	mostRegistrations = 64
)

// registry is the servers of hooks that a directory names. The directory is read again and again, because there are file systems
// on which changes cannot be followed.
type registry struct {
	directory string
	clock     clock.WithTicker
	metrics   *metrics
	// servers in the order of their files' names.
	servers atomic.Pointer[[]*hookServer]

	mu sync.Mutex
	// problems reported last, by file.
	problems map[string]string
}

func newRegistry(directory string, clock clock.WithTicker, metrics *metrics) *registry {
	r := &registry{directory: directory, clock: clock, metrics: metrics, problems: map[string]string{}}
	r.servers.Store(&[]*hookServer{})
	return r
}

// of lists the servers that are asked at a hook.
func (r *registry) of(hook hookapi.Hook) []*hookServer {
	var asked []*hookServer
	for _, server := range *r.servers.Load() {
		if slices.Contains(server.Hooks, hook) {
			asked = append(asked, server)
		}
	}
	return asked
}

// run follows the directory until the context ends.
func (r *registry) run(ctx context.Context) {
	ticker := r.clock.NewTicker(lookEvery)
	defer ticker.Stop()
	defer func() {
		for _, server := range *r.servers.Swap(&[]*hookServer{}) {
			server.close()
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
			r.look(ctx)
		}
	}
}

// look reads the directory. A file that cannot be read leaves its server as it was; one that went takes it away.
func (r *registry) look(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	names, err := r.names()
	r.tell(ctx, "", err)
	if err != nil {
		return
	}
	before := map[string]*hookServer{}
	for _, server := range *r.servers.Load() {
		before[server.name] = server
	}
	var after []*hookServer
	for _, name := range names {
		server, err := r.read(ctx, name, before[name])
		r.tell(ctx, name, err)
		if server != nil {
			after = append(after, server)
		}
	}
	r.servers.Store(&after)
	maps.DeleteFunc(r.problems, func(name, _ string) bool { return name != "" && !slices.Contains(names, name) })
	for name, server := range before {
		if !slices.Contains(after, server) {
			server.close()
			klog.FromContext(ctx).Info("Removed a hook server", "registration", name)
		}
	}
}

// names of the registrations, in order.
func (r *registry) names() ([]string, error) {
	entries, err := os.ReadDir(r.directory)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list registrations: %w", err)
	}
	var names []string
	for _, entry := range entries {
		if name := entry.Name(); strings.HasSuffix(name, ".json") && !strings.HasPrefix(name, ".") && len(names) < mostRegistrations {
			names = append(names, name)
		}
	}
	return names, nil
}

// read returns the server that a file names: the one before when that still is it, or the file is broken.
func (r *registry) read(ctx context.Context, name string, before *hookServer) (*hookServer, error) {
	path := filepath.Join(r.directory, name)
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil // it went since it was listed
	}
	switch {
	case !info.Mode().IsRegular() || info.Size() > largestRegistration:
		return before, fmt.Errorf("read registration %q: not a regular file of at most %d bytes", path, largestRegistration)
	case info.Mode().Perm()&0o002 != 0:
		return before, fmt.Errorf("read registration %q: the file is world-writable", path)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return before, fmt.Errorf("read registration: %w", err)
	}
	registration, err := hookapi.ParseRegistration(content)
	if err != nil {
		return before, fmt.Errorf("registration %q: %w", path, err)
	}
	if before != nil && before.same(registration) {
		return before, nil
	}
	server, err := newHookServer(name, registration, r.clock, r.metrics)
	if err != nil {
		return before, fmt.Errorf("registration %q: %w", path, err)
	}
	klog.FromContext(ctx).Info("Added a hook server", "registration", name, "endpoint", registration.Endpoint, "policy", registration.Policy, "hooks", registration.Hooks)
	return server, nil
}

// tell logs a problem once for as long as it stays the same.
func (r *registry) tell(ctx context.Context, name string, err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != "" && text != r.problems[name] {
		klog.FromContext(ctx).Error(err, "Ignored an invalid registration")
	}
	r.problems[name] = text
}
