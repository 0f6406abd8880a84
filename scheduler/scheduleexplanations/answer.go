package scheduleexplanations

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/core/disclosure"
	"koordinator.sh/koord/scheduler/informer"
)

const (
	// defaultTTL of an object that does not say.
	defaultTTL = 24 * time.Hour
	// maxAsked bounds the kinds of pods of one gang about which the scheduler is asked.
	maxAsked = 8
	// mostNodes is the most nodes that an answer lists.
	mostNodes = 5000
	// restFactor times the time that an explanation took is how long the Controller rests after it, but at most longestRest.
	restFactor  = 9
	longestRest = 10 * time.Second
)

// answered is the last answer to one question.
type answered struct {
	uid         types.UID
	fingerprint string
	version     [2]uint64
	at          time.Time
	status      schedulingv1alpha1.ScheduleExplanationStatus
}

// handle brings one object in line with its pods. It returns when to look at it again, 0 for only when it changes.
func (c *Controller) handle(ctx context.Context, key string) (time.Duration, error) {
	object, found := informer.Get[*schedulingv1alpha1.ScheduleExplanation](c.explanations, key)
	if !found || object.DeletionTimestamp != nil {
		delete(c.answered, key)
		return 0, nil
	}
	left, limited := lifetime(object, c.clock.Now())
	if limited && left <= 0 {
		return 0, c.remove(ctx, object, "its time to live is over")
	}
	next, err := c.refresh(ctx, key, object)
	if limited && (next == 0 || left < next) {
		next = left
	}
	return next, err
}

// lifetime is the time an object has left; false when it stays forever.
func lifetime(object *schedulingv1alpha1.ScheduleExplanation, now time.Time) (time.Duration, bool) {
	ttl := defaultTTL
	if object.Spec.TTL != nil {
		ttl = object.Spec.TTL.Duration
	}
	return object.CreationTimestamp.Add(ttl).Sub(now), ttl > 0
}

func (c *Controller) remove(ctx context.Context, object *schedulingv1alpha1.ScheduleExplanation, why string) error {
	err := c.writer.remove(ctx, object)
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) { // a conflict is another object of that name
		return fmt.Errorf("remove ScheduleExplanation %s/%s: %w", object.Namespace, object.Name, err)
	}
	delete(c.answered, object.Namespace+"/"+object.Name)
	klog.FromContext(ctx).V(2).Info("Removed a ScheduleExplanation", "scheduleExplanation", klog.KObj(object), "reason", why)
	return nil
}

// refresh answers, if it is time to and anything has changed, and writes the answer if it is another one.
func (c *Controller) refresh(ctx context.Context, key string, object *schedulingv1alpha1.ScheduleExplanation) (time.Duration, error) {
	subjects, problem := subjectsOf(object, c.system)
	if problem != nil {
		return 0, c.write(ctx, object, schedulingv1alpha1.ScheduleExplanationStatus{FailedMessage: problem.Error()}, c.clock.Now())
	}
	pods, err := c.find(ctx, subjects)
	if err != nil {
		return 0, err
	}
	if len(pods) == 0 {
		return 0, c.absent(ctx, object, subjects)
	}
	topologyKey := topologyKeyOf(object, pods)
	seen := answered{uid: object.UID, fingerprint: fingerprint(object.Generation, topologyKey, pods), version: c.version(), at: c.clock.Now()}
	last := c.answered[key]
	if last != nil && last.uid != object.UID {
		last = nil
	}
	if wait := waitFor(last, seen); wait > 0 {
		return wait, c.write(ctx, object, last.status, last.at)
	}
	readers := readersOf(object, c.system)
	seen.status, err = c.answer(ctx, pods, topologyKey, readers)
	if err != nil {
		return 0, c.unanswered(ctx, object, readers, err)
	}
	c.answered[key] = &seen
	return refreshInterval, c.write(ctx, object, seen.status, seen.at)
}

// waitFor says for how long the last answer is good enough, 0 when it is not.
func waitFor(last *answered, seen answered) time.Duration {
	switch {
	case last == nil:
		return 0
	case last.fingerprint != seen.fingerprint:
		return max(0, last.at.Add(spacing).Sub(seen.at))
	case last.version == seen.version:
		return refreshInterval
	}
	return max(0, last.at.Add(refreshInterval).Sub(seen.at))
}

// absent handles an object without pods: it goes with them, or it was too early.
func (c *Controller) absent(ctx context.Context, object *schedulingv1alpha1.ScheduleExplanation, subjects []types.NamespacedName) error {
	if len(object.Status.DetailedExplanation) > 0 {
		return c.remove(ctx, object, "its pods are gone")
	}
	message := fmt.Sprintf("there is no pod, job or gang %s", subjects[0])
	if len(subjects) > 1 {
		message = fmt.Sprintf("there is no pod of the gangs %s", object.Spec.QuestionObjectKey)
	}
	return c.write(ctx, object, schedulingv1alpha1.ScheduleExplanationStatus{FailedMessage: message}, c.clock.Now())
}

// unanswered writes that there is no answer, unless there is an older one, and returns the error. The error may name any object, so
// that its text is written only for readers who see everything.
func (c *Controller) unanswered(ctx context.Context, object *schedulingv1alpha1.ScheduleExplanation, readers disclosure.Access, err error) error {
	if object.Status.LastUpdateTime != nil {
		return err
	}
	status := schedulingv1alpha1.ScheduleExplanationStatus{FailedMessage: "the scheduler could not answer: " + err.Error()}
	if readers != nil {
		status.FailedMessage = "the scheduler could not answer; see its log for the reason"
	}
	if writeErr := c.write(ctx, object, status, c.clock.Now()); writeErr != nil {
		return writeErr
	}
	return err
}

// answer asks the scheduler about one pod of each kind. It is split by the values of a node label only for readers who see
// everything.
func (c *Controller) answer(ctx context.Context, pods []*corev1.Pod, topologyKey string, readers disclosure.Access) (schedulingv1alpha1.ScheduleExplanationStatus, error) {
	groups, settled := alike(pods)
	if readers != nil {
		topologyKey = ""
	}
	findings := Findings{Settled: settled, TopologyKey: topologyKey, Victims: c.known}
	for i, group := range groups {
		if i >= maxAsked {
			findings.Unasked += len(group)
			continue
		}
		status, err := c.ask(ctx, group[0])
		if err != nil {
			return schedulingv1alpha1.ScheduleExplanationStatus{}, err
		}
		findings.Answers = append(findings.Answers, Answer{Pods: group, Status: status, Told: toldOf(status, readers)})
	}
	if topologyKey != "" {
		nodes, err := c.nodes.Lister().List(labels.Everything())
		if err != nil {
			return schedulingv1alpha1.ScheduleExplanationStatus{}, fmt.Errorf("list nodes: %w", err)
		}
		findings.Domains = domainsOf(nodes, topologyKey)
	}
	return StatusOf(findings), nil
}

// domainsOf maps nodes to the value of a label; nodes without it are left out.
func domainsOf(nodes []*corev1.Node, key string) map[string]string {
	domains := map[string]string{}
	for _, node := range nodes {
		if value, found := node.Labels[key]; found {
			domains[node.Name] = value
		}
	}
	return domains
}

// ask has one pod explained, and rests, so that the scheduler has most of the time.
func (c *Controller) ask(ctx context.Context, pod *corev1.Pod) (*diagnosticsv1alpha1.PodExplanationStatus, error) {
	began := c.clock.Now()
	limited, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	answer, err := c.explainer.Explain(limited, &diagnosticsv1alpha1.PodExplanation{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace},
		Spec:       diagnosticsv1alpha1.PodExplanationSpec{PodName: pod.Name, MaxNodes: new(int32(mostNodes))},
	})
	select {
	case <-c.clock.After(min(restFactor*c.clock.Since(began), longestRest)):
	case <-ctx.Done():
	}
	if err != nil {
		return nil, fmt.Errorf("explain pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return &answer.Status, nil
}

func (c *Controller) known(namespace, name string) *corev1.Pod {
	pod, err := c.pods.Lister().Pods(namespace).Get(name)
	if err != nil {
		return nil
	}
	return pod
}

// write writes a status, unless the object has it already; the time alone is no reason.
func (c *Controller) write(ctx context.Context, object *schedulingv1alpha1.ScheduleExplanation, status schedulingv1alpha1.ScheduleExplanationStatus, at time.Time) error {
	status.LastUpdateTime = object.Status.LastUpdateTime
	if status.LastUpdateTime != nil && equality.Semantic.DeepEqual(status, object.Status) {
		return nil
	}
	edited := object.DeepCopy()
	edited.Status = status
	edited.Status.LastUpdateTime = &metav1.Time{Time: at}
	err := c.writer.writeStatus(ctx, edited)
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("write the status of ScheduleExplanation %s/%s: %w", object.Namespace, object.Name, err)
	}
	return nil
}
