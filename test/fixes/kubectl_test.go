package fixes

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd"

	"koordinator.sh/koord/test/sandboxtest"
)

// asKubectl names the variable with which the test program runs as kubectl.
const asKubectl = "KOORD_TEST_AS_KUBECTL"

// runKubectl is kubectl, with the arguments of the test program.
func runKubectl() int {
	command := cmd.NewDefaultKubectlCommand()
	if err := cli.RunNoErrOutput(command); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// installKubectl writes a program called kubectl that runs this test program as it.
func installKubectl(dir string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	script := fmt.Sprintf("#!/bin/sh\n%s=1 exec %s \"$@\"\n", asKubectl, self)
	return os.WriteFile(filepath.Join(dir, "kubectl"), []byte(script), 0o700)
}

// shell runs a command line as a person would, with kubectl in the path. Its exit code is part of the result.
func shell(ctx context.Context, stdin, line string) (sandboxtest.Result, error) {
	return shared.Run(ctx, stdin, "sh", "-c", "PATH="+tools+":$PATH; "+line)
}
