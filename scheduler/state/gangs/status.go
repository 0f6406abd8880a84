package gangs

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/gang"
)

// statusDelay gathers the changes of one gang into one write.
const statusDelay = time.Second

// Statuses keeps the statuses of PodGroups. Only the leader among schedulers should run it.
type Statuses struct {
	state   *State
	objects dynamic.Interface
	pods    kubernetes.Interface
	workers int
	queue   workqueue.TypedRateLimitingInterface[gang.Key]
}

// NewStatuses returns a controller on the state. It writes through objects, and asks pods for those that ended, which the
// informers of a scheduler do not have.
func NewStatuses(state *State, objects dynamic.Interface, pods kubernetes.Interface, workers int) (*Statuses, error) {
	s := &Statuses{
		state: state, objects: objects, pods: pods, workers: max(workers, 1),
		queue: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[gang.Key]()),
	}
	handler := cache.ResourceEventHandlerFuncs{AddFunc: s.enqueue, UpdateFunc: func(_, object any) { s.enqueue(object) }, DeleteFunc: s.enqueue}
	for _, source := range []cache.SharedIndexInformer{state.pods, state.podGroups} {
		if _, err := source.AddEventHandler(handler); err != nil {
			return nil, fmt.Errorf("watch PodGroups and their pods: %w", err)
		}
	}
	return s, nil
}

func (s *Statuses) enqueue(object any) {
	if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = gone.Obj
	}
	switch typed := object.(type) {
	case *corev1.Pod:
		if name := typed.Labels[extension.LabelPodGroup]; name != "" {
			s.queue.AddAfter(gang.Key{Namespace: typed.Namespace, Name: name}, statusDelay)
		}
	case *schedulingsigsv1alpha1.PodGroup:
		s.queue.AddAfter(gang.Key{Namespace: typed.Namespace, Name: typed.Name}, statusDelay)
	}
}

// Run writes statuses until the context ends. It can run once.
func (s *Statuses) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	defer s.queue.ShutDown()
	for range s.workers {
		running.Go(func() {
			for s.next(ctx) {
			}
		})
	}
	<-ctx.Done()
}

func (s *Statuses) next(ctx context.Context) bool {
	key, quit := s.queue.Get()
	if quit {
		return false
	}
	defer s.queue.Done(key)
	if err := s.write(ctx, key); err != nil && ctx.Err() == nil {
		klog.FromContext(ctx).Error(err, "The status of a PodGroup is not written yet", "podGroup", key)
		s.queue.AddRateLimited(key)
		return true
	}
	s.queue.Forget(key)
	return true
}

// write brings the status of one PodGroup up to date.
func (s *Statuses) write(ctx context.Context, key gang.Key) error {
	group := s.state.Object(key)
	if group == nil {
		return nil
	}
	pods, err := s.members(ctx, group)
	if err != nil {
		return err
	}
	status := gang.StatusOf(group, pods, metav1.NewTime(s.state.now().Truncate(time.Second)))
	if equalStatus(&status, &group.Status) {
		return nil
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": group.UID}, "status": status})
	if err != nil {
		return fmt.Errorf("encode the status of PodGroup %s: %w", key, err)
	}
	_, err = s.objects.Resource(Kind.Resource).Namespace(key.Namespace).Patch(ctx, key.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil && !apierrors.IsNotFound(err) { // a conflict may be that of too many writers, too
		return fmt.Errorf("write the status of PodGroup %s: %w", key, err)
	}
	return nil
}

// members are the pods of a group. Those that ended are asked for when there are fewer than were scheduled once.
func (s *Statuses) members(ctx context.Context, group *schedulingsigsv1alpha1.PodGroup) ([]*corev1.Pod, error) {
	var pods []*corev1.Pod
	known := s.state.Members(gang.Key{Namespace: group.Namespace, Name: group.Name})
	for i := range known {
		pods = append(pods, known[i].Pod)
	}
	if len(pods) >= int(group.Status.Scheduled) {
		return pods, nil
	}
	selector := labels.SelectorFromSet(labels.Set{extension.LabelPodGroup: group.Name}).String()
	list, err := s.pods.CoreV1().Pods(group.Namespace).List(ctx, metav1.ListOptions{LabelSelector: selector, ResourceVersion: "0"})
	if err != nil {
		return nil, fmt.Errorf("list the pods of PodGroup %s/%s: %w", group.Namespace, group.Name, err)
	}
	pods = make([]*corev1.Pod, len(list.Items))
	for i := range list.Items {
		pods[i] = &list.Items[i]
	}
	return pods, nil
}

func equalStatus(a, b *schedulingsigsv1alpha1.PodGroupStatus) bool {
	return a.Phase == b.Phase && a.OccupiedBy == b.OccupiedBy && a.Scheduled == b.Scheduled && a.Running == b.Running &&
		a.Succeeded == b.Succeeded && a.Failed == b.Failed && a.ScheduleStartTime.Equal(&b.ScheduleStartTime)
}
