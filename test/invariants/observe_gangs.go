package invariants

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

func (w *Watcher) podGroupChanged(name types.NamespacedName, _, after metav1.Object) {
	delete(w.podGroups, name)
	if group, there := after.(*schedulingsigsv1alpha1.PodGroup); there {
		w.podGroups[name] = group
	}
	w.checkGangs()
}

// gangs of the present pods, by PodGroup or by their own keys. Ended pods were bound, and count.
func (w *Watcher) gangs() map[types.NamespacedName]*Gang {
	gangs := map[types.NamespacedName]*Gang{}
	for _, pod := range w.pods {
		label := extension.GangName(pod)
		if label == "" {
			continue
		}
		name := types.NamespacedName{Namespace: pod.Namespace, Name: label}
		if gangs[name] == nil {
			gangs[name] = &Gang{Name: name.String(), MinMember: w.minMember(name, pod), Group: w.groupOf(name, pod)}
		}
		gangs[name].Members = append(gangs[name].Members, pod)
	}
	return gangs
}

func (w *Watcher) minMember(gang types.NamespacedName, member *corev1.Pod) int {
	if group := w.podGroups[gang]; group != nil {
		return int(group.Spec.MinMember)
	}
	count, err := extension.GangMinAvailable(member)
	if err != nil {
		return 0
	}
	return int(count)
}

// groupOf reads the group of a gang from its PodGroup, or from a member. A list that cannot be read leaves the gang alone.
func (w *Watcher) groupOf(gang types.NamespacedName, member *corev1.Pod) []types.NamespacedName {
	annotations := member.Annotations
	if group := w.podGroups[gang]; group != nil {
		annotations = group.Annotations
	}
	names, err := extension.GetGangGroups(annotations)
	if err != nil {
		return nil
	}
	var group []types.NamespacedName
	for _, name := range names {
		namespace, short, complete := strings.Cut(name, "/")
		if !complete {
			return nil
		}
		group = append(group, types.NamespacedName{Namespace: namespace, Name: short})
	}
	return group
}

// checkGangs remembers since when a part of a gang, or of its group, is bound, and reports those that stay a part. What was
// whole once may lose members.
func (w *Watcher) checkGangs() {
	now, gangs := w.now(), w.gangs()
	w.forgetGangs(gangs)
	for name, gang := range gangs {
		var others []*Gang
		for _, other := range gang.Group {
			if gangs[other] != nil {
				others = append(others, gangs[other])
			}
		}
		violations := gang.WholeWith(others)
		if !w.whole[name] && gang.Bound() > 0 && len(violations) == 0 {
			w.whole[name] = true
			w.seen.Gangs++
		}
		if w.whole[name] || len(violations) == 0 {
			delete(w.parts, name)
			continue
		}
		if _, waiting := w.parts[name]; !waiting {
			w.parts[name] = now
		}
		age := now.Sub(w.parts[name])
		w.seen.LongestPart = max(w.seen.LongestPart, age)
		if age > GangGrace {
			w.report("", violations)
		}
	}
}

// forgetGangs drops what is remembered of gangs of which nothing is left: another of the same name starts fresh.
func (w *Watcher) forgetGangs(present map[types.NamespacedName]*Gang) {
	for name := range w.whole {
		if present[name] == nil && w.podGroups[name] == nil {
			delete(w.whole, name)
		}
	}
	for name := range w.parts {
		if present[name] == nil {
			delete(w.parts, name)
		}
	}
}
