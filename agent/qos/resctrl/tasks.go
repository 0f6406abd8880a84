package resctrl

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/intel/goresctrl/pkg/kubernetes"
	"github.com/intel/goresctrl/pkg/rdt"
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/agent/state"
	"koordinator.sh/koord/api/extension"
	decision "koordinator.sh/koord/decision/nodeqos/resctrl"
)

// configOf is the pod's own shares; nil where it has none.
func configOf(pod *state.Pod) (*extension.ResctrlConfig, error) {
	return extension.GetResctrl(pod.Object.Annotations)
}

// moveContainers puts the threads of containers into the group of their pod. Threads that another process put into a group stay there,
// and so do containers for which the runtime was asked for a separate class.
func (r *round) moveContainers(plan decision.Plan) {
	in, err := r.tasksInGroups()
	if err != nil {
		r.problems = append(r.problems, err)
		return
	}
	for _, pod := range r.in.Pods {
		if !pod.Running() {
			continue
		}
		group := plan.Pods[string(pod.UID)]
		for _, container := range r.in.Containers.Of(pod, r.in.Now) {
			if usesRuntimeClass(container.Name, pod) {
				continue
			}
			if r.ctx.Err() != nil {
				r.problems = append(r.problems, r.ctx.Err())
				return
			}
			threads := qos.Tasks(r.in.Tree, r.in.Layout, cgroup.Threads, container.Cgroup)
			r.moveTasks(group, container.Cgroup, threads, in, pod.Object.Namespace+"/"+pod.Object.Name+"/"+container.Name)
		}
	}
	r.forgetGoneContainers()
}

// forgetGoneContainers drops containers that no pod has any more. What is on disk has them until it is saved next, which does no harm.
func (r *round) forgetGoneContainers() {
	var ids []string
	for _, pod := range r.in.Pods {
		for _, statuses := range [][]corev1.ContainerStatus{pod.Object.Status.InitContainerStatuses, pod.Object.Status.ContainerStatuses} {
			for i := range statuses {
				if _, id, found := strings.Cut(statuses[i].ContainerID, "://"); found {
					ids = append(ids, id)
				}
			}
		}
	}
	for _, held := range r.reconciler.managed {
		held.Containers = slices.DeleteFunc(held.Containers, func(name string) bool {
			return !slices.ContainsFunc(ids, func(id string) bool { return strings.Contains(name, id) })
		})
	}
}

// usesRuntimeClass is true for a container that the runtime puts into a class, by the annotations that containerd and CRI-O know.
func usesRuntimeClass(container string, pod *state.Pod) bool {
	_, origin := kubernetes.ContainerClassFromAnnotations(rdt.RdtContainerAnnotation, rdt.RdtPodAnnotation, rdt.RdtPodAnnotationContainerPrefix,
		container, nil, pod.Object.Annotations)
	return origin != kubernetes.ClassOriginNotFound
}

// tasksInGroups says which threads are in a group that is not the root.
func (r *round) tasksInGroups() (map[int]string, error) {
	groups, err := r.groups()
	if err != nil {
		return nil, err
	}
	in := map[int]string{}
	for _, name := range groups {
		content, err := r.tree.Read(name+"/tasks", nil)
		if err != nil {
			continue // it went
		}
		for _, thread := range qos.Numbers(content) {
			in[thread] = name
		}
	}
	return in, nil
}

// moveTasks puts threads of a container into a group, "" for the root group. Those that end meanwhile are left out, and all where the group
// could not be made.
func (r *round) moveTasks(group, container string, threads []int, in map[int]string, of string) {
	if group != "" && r.reconciler.managed[group] == nil {
		return
	}
	wanted := slices.DeleteFunc(slices.Clone(threads), func(thread int) bool {
		now := in[thread]
		return now == group || now != "" && r.reconciler.managed[now] == nil
	})
	if len(wanted) == 0 {
		return
	}
	if err := r.recordContainer(group, container, threads, in); err != nil {
		r.problems = append(r.problems, err)
		return
	}
	moved, file := 0, "tasks"
	if group != "" {
		file = group + "/tasks"
	}
	var problem error
	for _, thread := range wanted {
		err := r.tree.Write(file, strconv.Itoa(thread))
		if errors.Is(err, syscall.ESRCH) {
			continue
		}
		if err != nil {
			problem = err
			break
		}
		moved++
	}
	if moved > 0 || problem != nil {
		r.audit(file, "", fmt.Sprintf("%d threads", moved), "threads of "+of, problem)
	}
	if problem != nil {
		r.problems = append(r.problems, problem)
	}
}

// recordContainer remembers a container before its threads are put into a group that the agent did not create. One of which threads are there
// already was put there by another process, and stays.
func (r *round) recordContainer(group, container string, threads []int, in map[int]string) error {
	held, name := r.reconciler.managed[group], path.Base(container)
	if held == nil || held.Made || slices.Contains(held.Containers, name) {
		return nil
	}
	if slices.ContainsFunc(threads, func(thread int) bool { return in[thread] == group }) {
		return nil
	}
	held.Containers = append(held.Containers, name)
	if err := r.reconciler.save(); err != nil {
		held.Containers = held.Containers[:len(held.Containers)-1]
		return err
	}
	return nil
}
