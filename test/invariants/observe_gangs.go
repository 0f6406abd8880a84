package invariants

import (
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
			gangs[name] = &Gang{Name: name.String(), MinMember: w.minMember(name, pod)}
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

// checkGangs remembers since when a part of a gang is bound, and reports those that stay a part. What was whole once may
// lose members.
func (w *Watcher) checkGangs() {
	now := w.now()
	for name, gang := range w.gangs() {
		violations := gang.Whole()
		bound := 0
		for _, pod := range gang.Members {
			if pod.Spec.NodeName != "" {
				bound++
			}
		}
		if bound > 0 && len(violations) == 0 {
			w.whole[name] = true
		}
		if w.whole[name] || len(violations) == 0 {
			delete(w.parts, name)
			continue
		}
		if _, waiting := w.parts[name]; !waiting {
			w.parts[name] = now
		}
		if now.Sub(w.parts[name]) > GangGrace {
			w.report("", violations)
		}
	}
}
