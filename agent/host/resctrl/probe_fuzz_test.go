package resctrl

import (
	"testing"

	"koordinator.sh/koord/agent/host/kernelfs"
)

// FuzzProbe: what a processor says of itself is understood, or it is an error.
func FuzzProbe(f *testing.F) {
	f.Add("L3:0=7ff;1=7ff\nMB:0=100\n", "7ff\n", "1\n", "16\n", "10\n", "processor: 0\nvendor_id\t: GenuineIntel\n", "resctrl /sys/fs/resctrl resctrl rw,cdp 0 0\n")
	f.Add("L3:", "0", "-1", "99999999999", "", "CPU implementer : 0x41", " \x00 resctrl")
	f.Fuzz(func(t *testing.T, schemata, mask, least, groups, step, cpuinfo, mounts string) {
		tree, proc := kernelfs.NewMachine(), kernelfs.NewMachine()
		for name, content := range map[string]string{
			"info": "", "schemata": schemata, "info/L3": "", "info/MB": "", "info/L3/cbm_mask": mask, "info/L3/min_cbm_bits": least, "info/L3/num_closids": groups,
			"info/MB/bandwidth_gran": step, "info/MB/min_bandwidth": step, "info/MB/num_closids": groups, "info/L3_MON/mon_features": cpuinfo,
		} {
			tree.Show(name, content)
		}
		proc.Show("cpuinfo", cpuinfo)
		proc.Show("self/mounts", mounts)
		if found, err := Probe(tree, proc); err == nil && (found.Groups < 0 || found.LeastWays < 0 || found.BandwidthStep < 0 || found.LeastBandwidth < 0) {
			t.Errorf("%+v", found)
		}
	})
}
