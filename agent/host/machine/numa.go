package machine

import (
	"bytes"
	"math"
	"path"
	"slices"
	"time"

	"koordinator.sh/koord/agent/host"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
)

// numa reads what each NUMA node uses.
type numa struct {
	sys   files.FS
	nodes []*numaNode
	// byCPU is the index, in nodes, of each CPU's node; -1 for CPUs that are on none.
	byCPU []int
	// pods is memory.numa_stat of the cgroup of all pods; nil while there is none.
	pods files.File
}

type numaNode struct {
	id      int32
	meminfo files.File
	cpu     time.Duration
	// used, cache and pods are bytes of its memory when that was read last; known says that it was.
	used, cache, pods int64
	known             bool
}

// describe takes the nodes that there are and those of CPUs, and opens the files of nodes that are new.
func (n *numa) describe(nodes []host.NUMANode, byCPU map[int]int32) {
	same := len(n.nodes) == len(nodes)
	for i := 0; same && i < len(n.nodes); i++ {
		same = n.nodes[i].id == nodes[i].ID
	}
	if !same {
		n.close()
		n.nodes = n.nodes[:0]
		for _, node := range nodes {
			opened := &numaNode{id: node.ID}
			if file, err := n.sys.Open(path.Join(nodeTree, nodeName(node.ID), "meminfo")); err == nil {
				opened.meminfo = file
			}
			n.nodes = append(n.nodes, opened)
		}
	}
	n.byCPU = n.byCPU[:0]
	for cpu, of := range byCPU {
		for cpu >= len(n.byCPU) {
			n.byCPU = append(n.byCPU, -1)
		}
		n.byCPU[cpu] = slices.IndexFunc(n.nodes, func(node *numaNode) bool { return node.id == of })
	}
}

// readCPU sums up the lines of single CPUs of /proc/stat by node.
func (n *numa) readCPU(stat []byte) {
	for _, node := range n.nodes {
		node.cpu = 0
	}
	if len(n.nodes) == 0 {
		return
	}
	for line := range bytes.Lines(stat) {
		if len(line) < 4 || line[0] != 'c' || line[1] != 'p' || line[2] != 'u' {
			return // the CPUs come first
		}
		if line[3] == ' ' {
			continue
		}
		id, rest, err := leadingNumber(line[3:])
		if err != nil || id >= int64(len(n.byCPU)) || n.byCPU[id] < 0 {
			continue
		}
		if used, err := busyLine(rest); err == nil {
			node := n.nodes[n.byCPU[id]]
			node.cpu += min(used, math.MaxInt64-node.cpu)
		}
	}
}

// read appends the counters of the nodes whose memory can be read. Which those are is checked when it is this reader's turn, and for
// nodes for which it is not known yet.
func (n *numa) read(c *cgroups, into *host.Snapshot, mine bool) {
	if mine || slices.ContainsFunc(n.nodes, func(node *numaNode) bool { return !node.known && node.meminfo != nil }) {
		n.readMemory(c)
	}
	into.NUMANodes = into.NUMANodes[:0]
	for _, node := range n.nodes {
		if node.known {
			into.NUMANodes = append(into.NUMANodes, host.NUMACounter{
				ID: node.id, Counter: host.Counter{CPU: node.cpu, Memory: node.used, Cache: node.cache}, PodMemory: node.pods,
			})
		}
	}
	if len(into.NUMANodes) < 2 {
		n.whole(into)
	}
}

// readMemory of the nodes, and of what pods use on each where there are several.
func (n *numa) readMemory(c *cgroups) {
	for _, node := range n.nodes {
		node.known, node.pods = false, 0
		if node.meminfo == nil {
			continue
		}
		if content, err := c.content(node.meminfo); err == nil {
			node.used, node.cache = nodeInUse(content)
			node.known = true
		}
	}
	if len(n.nodes) < 2 {
		return
	}
	if n.pods == nil {
		n.pods = c.try(path.Join(c.layout.Directory(cgroup.MemoryStat, c.layout.Kubepods()), "memory.numa_stat"))
	}
	if n.pods == nil {
		return
	}
	content, err := c.content(n.pods)
	if err != nil {
		closeFile(&n.pods)
		return
	}
	for _, node := range n.nodes {
		node.pods = podMemory(c.layout.Version, content, node.id)
	}
}

// whole has the only node use what the machine and all pods do: what the node itself counts may be only part of the machine's memory.
func (*numa) whole(into *host.Snapshot) {
	for i := range into.NUMANodes {
		into.NUMANodes[i].Memory, into.NUMANodes[i].Cache, into.NUMANodes[i].PodMemory = into.Node.Memory, into.Node.Cache, 0
		for j := range into.Pods {
			into.NUMANodes[i].PodMemory += into.Pods[j].Memory
		}
	}
}

// pageSize of version 1's statistics of NUMA nodes, which count pages.
const pageSize = 4096

// podMemory reads what the pods use on one node, but for their page cache, in bytes: "anon N0=12 N1=34" in bytes in version 2,
// "hierarchical_anon=46 N0=12 N1=34" in pages in version 1.
func podMemory(version cgroup.Version, content []byte, node int32) int64 {
	if version == cgroup.V2 {
		return onNode(content, numaAnon, node)
	}
	return onNode(content, numaAnonV1, node) * pageSize
}

var (
	numaAnon   = []byte("anon ")
	numaAnonV1 = []byte("hierarchical_anon=")
)

// onNode finds the number after " Nid=" in the line that begins with a name.
func onNode(content, name []byte, node int32) int64 {
	for len(content) > 0 {
		line := content
		if end := bytes.IndexByte(content, '\n'); end >= 0 {
			line, content = content[:end], content[end+1:]
		} else {
			content = nil
		}
		if !bytes.HasPrefix(line, name) {
			continue
		}
		for {
			at := bytes.IndexByte(line, 'N')
			if at < 0 {
				return 0
			}
			id, rest, err := leadingNumber(line[at+1:])
			line = rest
			if err != nil || len(rest) == 0 || rest[0] != '=' {
				continue
			}
			value, after, err := leadingNumber(rest[1:])
			line = after
			if err == nil && id == int64(node) {
				return min(value, 1<<50)
			}
		}
	}
	return 0
}

// nodeInUse reads a node's meminfo, lines such as "Node 0 MemTotal: 12 kB": total less what is free and what can be dropped.
func nodeInUse(content []byte) (used, cache int64) {
	total, free := nodeField(content, memTotal), nodeField(content, memFree)
	cache = nodeField(content, activeFile) + nodeField(content, inactiveFiles) + nodeField(content, reclaimable)
	cache = min(cache, max(total-free, 0))
	return max(total-free-cache, 0) << 10, cache << 10
}

var (
	memTotal      = []byte(" MemTotal:")
	memFree       = []byte(" MemFree:")
	activeFile    = []byte(" Active(file):")
	inactiveFiles = []byte(" Inactive(file):")
	reclaimable   = []byte(" SReclaimable:")
)

// nodeField reads an amount in KiB; zero where there is none.
func nodeField(content, name []byte) int64 {
	_, after, found := bytes.Cut(content, name)
	if !found {
		return 0
	}
	value, _, err := leadingNumber(after)
	if err != nil {
		return 0
	}
	return min(value, 1<<43)
}

func (n *numa) close() {
	for _, node := range n.nodes {
		closeFile(&node.meminfo)
	}
	closeFile(&n.pods)
}
