package resctrl

import (
	"cmp"
	"fmt"
	"slices"

	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// Pod is what the group of a pod depends on.
type Pod struct {
	UID string
	QoS extension.QoSClass
	// Config is the pod's own shares; nil where it has none.
	Config *extension.ResctrlConfig
}

// Group is a group of processes.
type Group struct {
	Name     string   `json:"name"`
	Schemata Schemata `json:"schemata"`
}

// Plan is the groups of a node, and which pods are in them.
type Plan struct {
	// Groups to be made, in the order of their rank.
	Groups []Group `json:"groups,omitempty"`
	// Pods by UID; a pod that is not in it stays in the root group.
	Pods map[string]string `json:"pods,omitempty"`
	// Problems say what was left out, and why.
	Problems []string `json:"problems,omitempty"`
}

// Inventory is what is known of the groups of a node.
type Inventory struct {
	// Room is how many groups the processor can tell apart beside the root group and those of others; negative for no bound.
	Room int
	// Existing groups, which keep their place before pods that want a new one.
	Existing []string
}

// classGroups in the order of their rank: holding best effort back protects everybody.
var classGroups = []string{GroupBE, GroupLS, GroupLSR}

// Decide plans the groups of a node. Only classes that are switched on get a group: the root group has everything there is. A
// processor has few groups, so that those of classes come first, then those of pods, first the ones that exist already. A pod
// for which no group is left is in that of its class.
func Decide(machine Machine, strategy *slov1alpha1.ResourceQOSStrategy, pods []Pod, inventory Inventory) Plan {
	out := Plan{Pods: map[string]string{}}
	room := inventory.Room
	add := func(name string, schemata Schemata) bool {
		for _, problem := range schemata.Problems {
			out.Problems = append(out.Problems, fmt.Sprintf("group %s: %s", name, problem))
		}
		if len(schemata.L3) == 0 && len(schemata.MB) == 0 {
			return false
		}
		if room == 0 {
			out.Problems = append(out.Problems, fmt.Sprintf("group %s: the processor has no room for another group", name))
			return false
		}
		room--
		out.Groups = append(out.Groups, Group{Name: name, Schemata: schemata})
		return true
	}
	made := map[string]bool{}
	for _, name := range classGroups {
		if qos := settingsOf(strategy, name); on(qos) {
			made[name] = add(name, OfClass(machine, qos))
		}
	}
	for _, pod := range ranked(pods, inventory.Existing) {
		name := GroupOf(pod.QoS, pod.UID, false)
		placed := made[name]
		if pod.Config != nil {
			if own := GroupOf(pod.QoS, pod.UID, true); add(own, OfPod(machine, *pod.Config)) {
				name, placed = own, true
			}
		}
		if placed {
			out.Pods[pod.UID] = name
		}
	}
	return out
}

// ranked orders pods: those whose group exists first, each by UID.
func ranked(pods []Pod, existing []string) []Pod {
	rank := func(p Pod) int {
		if slices.Contains(existing, GroupOf(p.QoS, p.UID, true)) {
			return 0
		}
		return 1
	}
	out := slices.Clone(pods)
	slices.SortFunc(out, func(a, b Pod) int { return cmp.Or(rank(a)-rank(b), cmp.Compare(a.UID, b.UID)) })
	return out
}

// SwitchedOn says whether a class has its own share of the cache or of memory bandwidth. SYSTEM pods stay in the root group.
func SwitchedOn(strategy *slov1alpha1.ResourceQOSStrategy, class extension.QoSClass) bool {
	return on(settingsOf(strategy, GroupOf(class, "", false)))
}

func on(qos *slov1alpha1.ResctrlQOSCfg) bool { return qos != nil && qos.Enable != nil && *qos.Enable }

func settingsOf(strategy *slov1alpha1.ResourceQOSStrategy, group string) *slov1alpha1.ResctrlQOSCfg {
	if strategy == nil {
		return nil
	}
	class := map[string]*slov1alpha1.ResourceQOS{GroupBE: strategy.BEClass, GroupLS: strategy.LSClass, GroupLSR: strategy.LSRClass}[group]
	if class == nil {
		return nil
	}
	return class.ResctrlQOS
}
