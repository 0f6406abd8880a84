package kernelfs

import (
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"koordinator.sh/koord/agent/host/files"
)

// Machine is an imitation of what is at /proc or /sys: parameters of the whole machine, and processes. All methods may be called
// at the same time.
type Machine struct {
	mu        sync.Mutex
	files     map[string]*parameter
	processes map[string]*running
	// reads and writes that were done.
	reads, writes int
}

var (
	_ files.FS     = (*Machine)(nil)
	_ files.Opener = (*Machine)(nil)
)

// parameter is one file.
type parameter struct {
	content string
	// write returns what is shown after a value was written; nil refuses all.
	write func(before, value string) (string, error)
}

// running is a process; gone once it has ended.
type running struct {
	files map[string]*parameter
	gone  bool
}

// NewMachine returns a machine without files.
func NewMachine() *Machine {
	return &Machine{files: map[string]*parameter{}, processes: map[string]*running{}}
}

// Number adds a file with a number within bounds.
func (m *Machine) Number(path string, value, least, most int64) {
	m.add(path, format(value), func(_, written string) (string, error) { return within(written, least, most) })
}

func within(written string, least, most int64) (string, error) {
	parsed, err := number(written)
	if err != nil || parsed < least || parsed > most {
		return "", syscall.EINVAL
	}
	return format(parsed), nil
}

// Features adds a list of features, of which each is turned on by its name, and off by NO_ before it.
func (m *Machine) Features(path, content string) {
	m.add(path, content, func(before, written string) (string, error) {
		words := strings.Fields(before)
		for i, word := range words {
			if strings.TrimPrefix(word, "NO_") == strings.TrimPrefix(written, "NO_") {
				words[i] = written
				return strings.Join(words, " "), nil
			}
		}
		return "", syscall.EINVAL
	})
}

// Show adds a file that cannot be written, to a process when its path begins with the number of one.
func (m *Machine) Show(path, content string) { m.add(path, content, nil) }

func (m *Machine) add(path, content string, write func(before, value string) (string, error)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	content = strings.TrimSuffix(content, "\n")
	pid, rest, _ := strings.Cut(path, "/")
	if process := m.processes[pid]; process != nil {
		process.files[rest] = &parameter{content: content, write: write}
		return
	}
	m.files[path] = &parameter{content: content, write: write}
}

// Start starts a process at a time in clock ticks. Another one of its number has ended by that.
func (m *Machine) Start(pid int, start uint64, cgroup string, oomScore int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	name := strconv.Itoa(pid)
	if before := m.processes[name]; before != nil {
		before.gone = true
	}
	m.processes[name] = &running{files: map[string]*parameter{
		"stat":          {content: fmt.Sprintf("%d (a (b) c) S 1%s %d 0 0", pid, strings.Repeat(" 0", 17), start)},
		"cgroup":        {content: "4:memory:/" + cgroup + "\n2:cpu,cpuacct:/" + cgroup + "\n0::/" + cgroup},
		"oom_score_adj": {content: format(oomScore), write: func(_, written string) (string, error) { return within(written, -1000, 1000) }},
	}}
}

// End ends a process.
func (m *Machine) End(pid int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if process := m.processes[strconv.Itoa(pid)]; process != nil {
		process.gone = true
		delete(m.processes, strconv.Itoa(pid))
	}
}

// Dump returns the content of all files that can be written.
func (m *Machine) Dump() map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := map[string]string{}
	collect := func(at string, files map[string]*parameter) {
		for name, file := range files {
			if file.write != nil {
				out[path.Join(at, name)] = file.content
			}
		}
	}
	collect("", m.files)
	for pid, process := range m.processes {
		collect(pid, process.files)
	}
	return out
}

// Counts returns how many reads and writes succeeded.
func (m *Machine) Counts() (reads, writes int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.reads, m.writes
}

// find returns a file; of a process when its path begins with a number.
func (m *Machine) find(name string) (*parameter, error) {
	first, rest, _ := strings.Cut(path.Clean(name), "/")
	if process := m.processes[first]; process != nil && rest != "" {
		return process.find(rest)
	}
	if file := m.files[path.Clean(name)]; file != nil {
		return file, nil
	}
	return nil, syscall.ENOENT
}

func (r *running) find(name string) (*parameter, error) {
	file := r.files[path.Clean(name)]
	switch {
	case r.gone:
		return nil, syscall.ESRCH
	case file == nil:
		return nil, syscall.ENOENT
	}
	return file, nil
}

// Read implements files.FS.
func (m *Machine) Read(name string, buffer []byte) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.read(m.find, name, buffer)
}

func (m *Machine) read(find func(string) (*parameter, error), name string, buffer []byte) ([]byte, error) {
	file, err := find(name)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	m.reads++
	return append(buffer[:0], file.content+"\n"...), nil
}

// Write implements files.FS.
func (m *Machine) Write(name, value string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.write(m.find, name, value)
}

func (m *Machine) write(find func(string) (*parameter, error), name, value string) error {
	file, err := find(name)
	if err == nil && file.write == nil {
		err = syscall.EACCES
	}
	var shown string
	if err == nil {
		shown, err = file.write(file.content, strings.TrimSpace(value))
	}
	if err != nil {
		return &fs.PathError{Op: "write", Path: name, Err: err}
	}
	m.writes++
	file.content = shown
	return nil
}

// Open implements files.FS: nothing here is read again and again.
func (m *Machine) Open(name string) (files.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.ENOSYS}
}

// Directories implements files.FS. Links to directories are none.
func (m *Machine) Directories(name string) ([]string, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.ENOENT}
}

// Exists implements files.FS, for files.
func (m *Machine) Exists(name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, err := m.find(name)
	return err == nil
}

// OpenSubtree implements files.Opener, for processes.
func (m *Machine) OpenSubtree(name string) (files.Subtree, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	process := m.processes[path.Clean(name)]
	if process == nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.ENOENT}
	}
	return &processDirectory{Machine: m, process: process}, nil
}

// processDirectory is the directory of one process, even after its number was given to another.
type processDirectory struct {
	*Machine
	process *running
}

// Read implements files.FS.
func (d *processDirectory) Read(name string, buffer []byte) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.read(d.process.find, name, buffer)
}

// Write implements files.FS.
func (d *processDirectory) Write(name, value string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.write(d.process.find, name, value)
}

// Close implements files.Subtree.
func (d *processDirectory) Close() error { return nil }
