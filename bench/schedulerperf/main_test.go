package schedulerperf

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/etcd/server/v3/etcdmain"
	_ "k8s.io/component-base/logs/json/register" // the JSON log format
	perf "k8s.io/kubernetes/test/integration/scheduler_perf"
)

// etcd is the name under which scheduler_perf looks for its store on the path, and under which this program is that store.
const etcd = "etcd"

const (
	// resultsFlag is scheduler_perf's flag for the directory of its results.
	resultsFlag = "data-items-dir"
	// logsVariable is scheduler_perf's name for the directory of its logs, of which it keeps those of failures.
	logsVariable = "ARTIFACTS"
)

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == etcd {
		etcdmain.Main(append(os.Args, "--unsafe-no-fsync")) // the disk's pace is not what is measured
		return
	}
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		code = 1
	}
	os.Exit(code)
}

// run runs the tests with an etcd on the path that is this program, as a separate process.
func run(m *testing.M) (code int, err error) {
	scratch, err := os.MkdirTemp("", "koord-schedulerperf-")
	if err != nil {
		return 1, err
	}
	defer func() {
		if code == 0 {
			err = errors.Join(err, os.RemoveAll(scratch))
		}
	}()
	if err := linkEtcd(scratch); err != nil {
		return 1, err
	}
	if err := perf.InitTests(); err != nil {
		return 1, err
	}
	results, err := resultsDirectory(scratch)
	if err != nil {
		return 1, err
	}
	if code = m.Run(); code != 0 {
		fmt.Fprintln(os.Stderr, "The logs of what failed are in", results)
	}
	return code, nil
}

func linkEtcd(directory string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.Symlink(self, filepath.Join(directory, etcd)); err != nil {
		return err
	}
	return os.Setenv("PATH", directory+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// resultsDirectory is the one of the flag, or else the given one and not the working directory. Logs go there too.
func resultsDirectory(otherwise string) (string, error) {
	results := flag.Lookup(resultsFlag)
	if results == nil {
		return "", fmt.Errorf("scheduler_perf has no flag -%s", resultsFlag)
	}
	if results.Value.String() == "" {
		if err := results.Value.Set(otherwise); err != nil {
			return "", fmt.Errorf("set the directory of the results: %w", err)
		}
	}
	directory := results.Value.String()
	if err := os.MkdirAll(directory, 0o750); err != nil {
		return "", err
	}
	if os.Getenv(logsVariable) != "" {
		return os.Getenv(logsVariable), nil
	}
	return directory, os.Setenv(logsVariable, directory)
}
