package machine

import (
	"bytes"
	"fmt"
	"testing"
)

// FuzzBlockIO: what a cgroup transferred is never negative, and version 1 counts its two directions and not their sum.
func FuzzBlockIO(f *testing.F) {
	f.Add([]byte("254:0 Read 4096\n254:0 Write 8192\n254:0 Sync 12288\n254:0 Async 0\n254:0 Discard 0\n254:0 Total 12288\nTotal 12288\n"), uint32(4096), uint32(8192))
	f.Add([]byte("Total 0\n"), uint32(0), uint32(0))
	f.Add([]byte("8:0 Read 9223372036854775807\n8:1 Read 9223372036854775807\n8:1 Write 99999999999999999999\n"), uint32(1), uint32(2))
	f.Add([]byte("8:0 Read -1\n8:0 Read \n Write x"), uint32(0), uint32(1))
	f.Add([]byte("254:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=0 dios=0\n"), uint32(7), uint32(0))
	f.Fuzz(func(t *testing.T, content []byte, read, written uint32) {
		readBefore, writtenBefore := blkio(content)
		if readBefore < 0 || writtenBefore < 0 {
			t.Fatalf("%d bytes read, %d written", readBefore, writtenBefore)
		}
		device := fmt.Appendf(bytes.Clone(content), "\n259:1 Read %d\n259:1 Write %d\n259:1 Total %d\n", read, written, int64(read)+int64(written))
		readAfter, writtenAfter := blkio(device)
		if saturated := readBefore > 1<<61 || writtenBefore > 1<<61; !saturated && (readAfter-readBefore != int64(read) || writtenAfter-writtenBefore != int64(written)) {
			t.Errorf("a device of %d and %d bytes adds %d and %d", read, written, readAfter-readBefore, writtenAfter-writtenBefore)
		}
		if readAfter < readBefore || writtenAfter < writtenBefore {
			t.Errorf("a device more makes %d and %d bytes of %d and %d", readAfter, writtenAfter, readBefore, writtenBefore)
		}
	})
}

// FuzzNodeCPU: the CPUs of a NUMA node are busy for no negative time, and those of no node for none.
func FuzzNodeCPU(f *testing.F) {
	f.Add([]byte(stat))
	f.Add([]byte("cpu  2 0 2 4 0 0 0 0 0 0\ncpu0 1 0 1 2 0 0 0 0 0 0\ncpu1 1 0 1 2 0 0 0 0 0 0\ncpu3 9 0 9 9 0 0 0 0 0 0\nintr 0\n"))
	f.Add([]byte("cpu0 9223372036854775807 9223372036854775807 9223372036854775807 0\ncpu2 1 1 1 1\n"))
	f.Add([]byte("cpu99999999999999999999 1 1 1 1\ncpu-1 1 1 1 1\ncpu\ncpu0\ncpu0 x"))
	f.Fuzz(func(t *testing.T, content []byte) {
		n := numa{nodes: []*numaNode{{id: 0}, {id: 1}, {id: 2}}, byCPU: []int{0, 1, 0, -1}}
		n.readCPU(content)
		first := n.nodes[0].cpu
		for _, node := range n.nodes {
			if node.cpu < 0 {
				t.Errorf("node %d was busy for %s", node.id, node.cpu)
			}
		}
		if n.nodes[2].cpu != 0 {
			t.Errorf("a node without CPUs was busy for %s", n.nodes[2].cpu)
		}
		n.readCPU(content)
		if n.nodes[0].cpu != first {
			t.Errorf("the same content is %s and then %s", first, n.nodes[0].cpu)
		}
	})
}
