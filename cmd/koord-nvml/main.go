//go:build linux && (amd64 || arm64)

// Command koord-nvml reads NVIDIA GPUs for koordlet, which starts it: each line on standard input is answered with a line of JSON.
package main

import (
	"fmt"
	"os"

	"koordinator.sh/koord/agent/host/gpu"
	"koordinator.sh/koord/agent/host/gpu/nvml"
)

func main() {
	name := nvml.Name
	if len(os.Args) > 1 {
		name = os.Args[1]
	}
	if err := run(name); err != nil {
		fmt.Fprintln(os.Stderr, "koord-nvml:", err)
		os.Exit(1)
	}
}

func run(name string) error {
	library, err := nvml.Open(name)
	if err != nil {
		return err
	}
	err = gpu.Serve(library, os.Stdin, os.Stdout)
	if closed := library.Close(); err == nil {
		err = closed
	}
	return err
}
