package node

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Agent is the process of the node's koordlet.
func (n *Node) Agent() (pid int, err error) {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0, err
	}
	for _, dir := range dirs {
		// Of a process that has ended meanwhile, nothing can be read.
		program, _ := os.ReadFile(filepath.Join(dir, "comm"))
		cgroups, _ := os.ReadFile(filepath.Join(dir, "cgroup"))
		if strings.TrimSpace(string(program)) == "koordlet" && strings.Contains(string(cgroups), "/koord-sandbox-"+n.Sandbox.Name) {
			return strconv.Atoi(filepath.Base(dir))
		}
	}
	return 0, fmt.Errorf("no koordlet runs on node %q", n.Name)
}
