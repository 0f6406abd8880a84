// Package state knows where a sandbox keeps its files and what it was asked to be.
package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// HomeVariable is the environment variable that moves all sandboxes to another directory.
const HomeVariable = "KOORD_STATE_HOME"

// Dir is one sandbox's directory.
type Dir struct {
	path string
}

// Home returns the directory that holds the user's sandboxes: $KOORD_STATE_HOME, else $XDG_STATE_HOME/koord, else
// ~/.local/state/koord. getenv is os.Getenv outside tests.
func Home(getenv func(string) string) (string, error) {
	if home := getenv(HomeVariable); home != "" {
		return filepath.Abs(home)
	}
	if xdg := getenv("XDG_STATE_HOME"); filepath.IsAbs(xdg) {
		return filepath.Join(xdg, "koord"), nil
	}
	user := getenv("HOME")
	if user == "" {
		return "", fmt.Errorf("find the state directory: neither HOME nor %s is set", HomeVariable)
	}
	return filepath.Join(user, ".local", "state", "koord"), nil
}

// Open returns the directory of the sandbox called name below home. It creates nothing.
func Open(home, name string) Dir {
	return Dir{path: filepath.Join(home, "sandboxes", name)}
}

// At returns the sandbox directory at a path.
func At(path string) Dir { return Dir{path: path} }

// List returns the names of the sandboxes below home that were started at least once, sorted.
func List(home string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(home, "sandboxes"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list sandboxes: %w", err)
	}
	var names []string
	for _, entry := range entries {
		if entry.IsDir() && Open(home, entry.Name()).Exists() {
			names = append(names, entry.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

// Path of the directory itself.
func (d Dir) Path() string { return d.path }

// Lock is the file whose lock the supervisor holds as long as it lives.
func (d Dir) Lock() string { return filepath.Join(d.path, "lock") }

// Turn is the file, beside the directory, whose lock a command holds while it starts, stops or deletes the sandbox.
func (d Dir) Turn() string { return d.path + ".lock" }

// Kubeconfig is the administrator's kubeconfig.
func (d Dir) Kubeconfig() string { return filepath.Join(d.path, "kubeconfig") }

// PKI is the directory of keys, certificates and the components' kubeconfigs.
func (d Dir) PKI() string { return filepath.Join(d.path, "pki") }

// EtcdData is etcd's data directory.
func (d Dir) EtcdData() string { return filepath.Join(d.path, "etcd") }

// Config is the directory of the components' configuration files.
func (d Dir) Config() string { return filepath.Join(d.path, "config") }

// Logs is the directory of the components' logs.
func (d Dir) Logs() string { return filepath.Join(d.path, "logs") }

// Log is the log file of one component.
func (d Dir) Log(component string) string { return filepath.Join(d.Logs(), component+".log") }

func (d Dir) specFile() string      { return filepath.Join(d.path, "spec.json") }
func (d Dir) portsFile() string     { return filepath.Join(d.path, "ports.json") }
func (d Dir) processesFile() string { return filepath.Join(d.path, "processes.json") }
func (d Dir) contextFile() string   { return filepath.Join(d.path, "previous-context") }
func (d Dir) kubeconfigsFile() string {
	return filepath.Join(d.path, "kubeconfigs.json")
}

// Exists reports whether the sandbox has ever been started.
func (d Dir) Exists() bool {
	_, err := os.Stat(d.specFile())
	return err == nil
}

// CreateParent makes the directory that holds the sandbox's, readable by the user alone.
func (d Dir) CreateParent() error {
	if err := os.MkdirAll(filepath.Dir(d.path), 0o700); err != nil {
		return fmt.Errorf("create directory of sandboxes: %w", err)
	}
	return nil
}

// Create makes the directory and those inside it, readable by the user alone.
func (d Dir) Create() error {
	for _, dir := range []string{d.path, d.PKI(), d.Config(), d.Logs()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("create sandbox directory: %w", err)
		}
	}
	return nil
}

// Remove deletes everything the sandbox keeps.
func (d Dir) Remove() error {
	if err := os.RemoveAll(d.path); err != nil {
		return fmt.Errorf("remove sandbox directory: %w", err)
	}
	return nil
}

// WriteSpec stores what the sandbox was asked to be.
func (d Dir) WriteSpec(spec Spec) error { return writeJSON(d.specFile(), spec) }

// ReadSpec returns what the sandbox was asked to be.
func (d Dir) ReadSpec() (Spec, error) {
	var spec Spec
	err := readJSON(d.specFile(), &spec)
	return spec, err
}

// WritePreviousContext stores which kubectl context was current before the sandbox's.
func (d Dir) WritePreviousContext(name string) error { return WriteFile(d.contextFile(), []byte(name)) }

// PreviousContext returns the kubectl context that was current before the sandbox's; "" where there was none or it is not
// known.
func (d Dir) PreviousContext() string {
	name, err := os.ReadFile(d.contextFile())
	if err != nil {
		return ""
	}
	return string(name)
}

// AddUserKubeconfig remembers a kubeconfig of the user's that the sandbox's context was written to.
func (d Dir) AddUserKubeconfig(file string) error {
	files := d.UserKubeconfigs()
	if slices.Contains(files, file) {
		return nil
	}
	return writeJSON(d.kubeconfigsFile(), append(files, file))
}

// UserKubeconfigs are the kubeconfigs of the user's that the sandbox's context was written to, none where that is not known.
func (d Dir) UserKubeconfigs() []string {
	var files []string
	if readJSON(d.kubeconfigsFile(), &files) != nil {
		return nil
	}
	return files
}

// writeJSON replaces the file as a whole, so that a reader never sees half of it.
func writeJSON(path string, value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", filepath.Base(path), err)
	}
	return WriteFile(path, data)
}

// WriteFile replaces a file as a whole: it writes beside it, syncs and renames. Readable by the user alone.
func WriteFile(path string, data []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	_, writeErr := file.Write(data)
	err = errors.Join(writeErr, file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), errors.Join(err, os.Remove(file.Name())))
	}
	return nil
}

func readJSON(path string, into any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read %s: %w", filepath.Base(path), err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("parse %s: %w", filepath.Base(path), err)
	}
	return nil
}
