package printer

import (
	"io"
	"strconv"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// agentCPUs prints a map of the CPUs, the pools and who owns which.
func agentCPUs(w io.Writer, cpus *diagnosticsv1alpha1.CPUExplanation, o Options) error {
	if cpus == nil {
		return nil
	}
	if err := title(w, "CPUs "+cpus.All, o); err != nil {
		return err
	}
	if err := cpuMap(w, cpus, o); err != nil {
		return err
	}
	pools := table{indent: 2, columns: []column{{header: "POOL"}, {header: "NUMA"}, {header: "COUNT", right: true}, {header: "CPUS", flexible: 16}}}
	for _, pool := range cpus.Pools {
		node := "all"
		if pool.NUMANode != nil {
			node = strconv.Itoa(int(*pool.NUMANode))
		}
		pools.add(text(pool.Name), text(node), text(strconv.Itoa(int(pool.Count))), text(pool.CPUs))
	}
	if len(pools.rows) > 0 {
		if _, err := pools.render(w, o); err != nil {
			return err
		}
	}
	if cpus.OwnersUnknown != "" {
		if err := line(w, o, Warn, "which pods have exclusive CPUs is unknown: "+cpus.OwnersUnknown); err != nil || len(cpus.Owners) == 0 {
			return err
		}
	}
	if len(cpus.Owners) == 0 {
		return line(w, o, Dim, "no pod has exclusive CPUs")
	}
	owners := table{indent: 2, columns: []column{
		{header: "OWNER", flexible: 16}, {header: "QOS"}, {header: "COUNT", right: true}, {header: "CPUS", flexible: 16}, {header: "LENT", drop: 1},
	}}
	for _, owner := range cpus.Owners {
		name, lent := owner.Name, "no"
		if owner.Namespace != "" {
			name = owner.Namespace + "/" + owner.Name
		}
		if owner.Lent {
			lent = "to best effort"
		}
		owners.add(text(name), text(orNone(owner.QoSClass)), text(strconv.Itoa(int(owner.Count))), text(owner.CPUs), painted(Dim, lent))
	}
	_, err := owners.render(w, o)
	return err
}
