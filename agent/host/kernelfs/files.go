package kernelfs

import (
	"io/fs"
	"strings"
	"syscall"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
)

// Read implements files.FS.
func (t *Tree) Read(name string, buffer []byte) ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if name == "cgroup.controllers" && t.version == cgroup.V2 {
		return append(buffer[:0], "cpuset cpu io memory\n"...), nil
	}
	g, file, err := t.locate(name)
	if err == nil && file == "" {
		err = syscall.EISDIR
	}
	if err == nil {
		err = t.injectedFault("read", name)
	}
	if err == nil && t.rules()[file].writeOnly {
		err = syscall.EINVAL
	}
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	t.reads++
	return append(buffer[:0], t.show(g, file)+"\n"...), nil
}

// show is what a file reads as.
func (t *Tree) show(g *group, file string) string {
	switch {
	case file == "cpuset.cpus.effective":
		return t.effective(g).String()
	}
	return g.content[file]
}

// Write implements files.FS.
func (t *Tree) Write(name, value string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	g, file, err := t.locate(name)
	if err == nil && file == "" {
		err = syscall.EISDIR
	}
	if err == nil {
		err = t.injectedFault("write", name)
	}
	if err == nil && len(value) > 0 { // writing nothing does nothing
		err = t.set(g, file, strings.TrimSpace(value))
	}
	if err != nil {
		return &fs.PathError{Op: "write", Path: name, Err: err}
	}
	t.writes++
	return nil
}

func (t *Tree) set(g *group, file, value string) error {
	rule, known := t.rules()[file]
	if !known || rule.write == nil {
		return syscall.EINVAL
	}
	shown, err := rule.write(t, g, value)
	if err != nil {
		return err
	}
	g.content[file] = shown
	return nil
}

// Open implements files.FS.
func (t *Tree) Open(name string) (files.File, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	g, file, err := t.locate(name)
	if err == nil && file == "" {
		err = syscall.EISDIR
	}
	if err == nil {
		err = t.injectedFault("open", name)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &held{tree: t, group: g, file: file, path: name}, nil
}

// Directories implements files.FS.
func (t *Tree) Directories(name string) ([]string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	g, file, err := t.locate(name)
	if err == nil && file != "" {
		err = syscall.ENOTDIR
	}
	if err == nil {
		err = t.injectedFault("list", name)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return g.names(), nil
}

// Exists implements files.FS.
func (t *Tree) Exists(name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, _, err := t.locate(name)
	return err == nil || name == "cgroup.controllers" && t.version == cgroup.V2
}

func (t *Tree) injectedFault(operation, name string) error {
	if t.fault == nil {
		return nil
	}
	return t.fault(operation, name)
}

// held is an open file.
type held struct {
	tree       *Tree
	group      *group
	file, path string
	closed     bool
}

// Read implements files.File.
func (h *held) Read(buffer []byte) ([]byte, error) {
	h.tree.mu.Lock()
	defer h.tree.mu.Unlock()
	err := h.tree.injectedFault("read", h.path)
	switch {
	case h.closed:
		err = fs.ErrClosed
	case h.group.gone:
		err = syscall.ENODEV
	}
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: h.path, Err: err}
	}
	h.tree.reads++
	return append(buffer[:0], h.tree.show(h.group, h.file)+"\n"...), nil
}

// Close implements files.File.
func (h *held) Close() error {
	h.tree.mu.Lock()
	defer h.tree.mu.Unlock()
	h.closed = true
	return nil
}
