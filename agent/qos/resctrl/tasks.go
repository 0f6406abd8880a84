package resctrl

import (
	"errors"
	"fmt"
	"strconv"
	"syscall"

	"github.com/intel/goresctrl/pkg/kubernetes"
	"github.com/intel/goresctrl/pkg/rdt"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/agent/state"
	"koordinator.sh/koord/api/extension"
	decision "koordinator.sh/koord/decision/resctrl"
)

// configOf is the pod's own shares; nil where it has none.
func configOf(pod *state.Pod) (*extension.ResctrlConfig, error) {
	return extension.GetResctrl(pod.Object.Annotations)
}

// place puts the threads of containers into the group of their pod. Threads that are in a group of somebody else's stay there,
// and so do containers for which the runtime was asked for a class of its own.
func (r *round) place(plan decision.Plan) {
	in, err := r.members()
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
			if runtimes(container.Name, pod) {
				continue
			}
			if r.ctx.Err() != nil {
				r.problems = append(r.problems, r.ctx.Err())
				return
			}
			r.move(group, qos.Tasks(r.in.Tree, r.in.Layout, cgroup.Threads, container.Cgroup), in, pod.Object.Namespace+"/"+pod.Object.Name+"/"+container.Name)
		}
	}
}

// runtimes is true for a container that the runtime puts into a class, by the annotations that containerd and CRI-O know.
func runtimes(container string, pod *state.Pod) bool {
	_, origin := kubernetes.ContainerClassFromAnnotations(rdt.RdtContainerAnnotation, rdt.RdtPodAnnotation, rdt.RdtPodAnnotationContainerPrefix,
		container, nil, pod.Object.Annotations)
	return origin != kubernetes.ClassOriginNotFound
}

// members says which threads are in a group that is not the root.
func (r *round) members() (map[int]string, error) {
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

// move puts threads into a group, "" for the root group. Those that end meanwhile are left out.
func (r *round) move(group string, threads []int, in map[int]string, of string) {
	moved, path := 0, "tasks"
	if group != "" {
		path = group + "/tasks"
	}
	var problem error
	for _, thread := range threads {
		now := in[thread]
		if now == group || now != "" && r.keeper.held[now] == nil {
			continue
		}
		err := r.tree.Write(path, strconv.Itoa(thread))
		if errors.Is(err, syscall.ESRCH) {
			continue
		}
		if err != nil {
			problem = err
			break
		}
		moved++
		r.note(group, now, thread)
	}
	if moved > 0 || problem != nil {
		r.audit(path, "", fmt.Sprintf("%d threads", moved), "threads of "+of, problem)
	}
	if problem != nil {
		r.problems = append(r.problems, problem)
	}
}

// note remembers who is in a group because of the agent.
func (r *round) note(group, before string, thread int) {
	if held := r.keeper.held[before]; held != nil {
		delete(held.moved, thread)
	}
	held := r.keeper.held[group]
	if held == nil || held.Made {
		return
	}
	if held.moved == nil {
		held.moved = map[int]bool{}
	}
	held.moved[thread] = true
}
