package yarn

import "testing"

// FuzzParse: whatever a ResourceManager sends, it is read or refused.
func FuzzParse(f *testing.F) {
	f.Add([]byte{0x0a, 0x02, 0x0a, 0x00})
	f.Add(updateNodeResourceRequest([]Change{{Node: NodeID{Host: "a", Port: 1}, Capability: Resource{VCores: 1, MiB: -1}}}))
	e := &Engine{grain: (&Cluster{MilliCPUPerVCore: mostVCoresPerCore * millisPerCore}).grain()} // the largest vcore
	f.Fuzz(func(t *testing.T, message []byte) {
		nodes, err := parseNodes(message)
		if err == nil {
			for _, node := range nodes {
				if a := e.amount(node.Capability); a.MilliCPU < 0 || a.Memory < 0 {
					t.Errorf("%+v is %+v", node.Capability, a)
				}
			}
		}
		_, _ = parsePending(message)
		_, _ = parseHAState(message)
	})
}

func FuzzParseNodeID(f *testing.F) {
	f.Add("host:8041")
	f.Add("[::1]:1")
	f.Fuzz(func(t *testing.T, text string) {
		id, err := ParseNodeID(text)
		if err != nil {
			return
		}
		if again, err := ParseNodeID(id.String()); err != nil || again != id {
			t.Errorf("%q is %v, which is %v, %v", text, id, again, err)
		}
	})
}
