package frameworkext

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"koordinator.sh/koord/decision/scheduling/reservation"
)

// readBackoff is how long to wait between looks at a pod whose binding was not answered.
var readBackoff = wait.Backoff{Duration: 20 * time.Millisecond, Factor: 2, Steps: 1 << 20, Cap: 2 * time.Second}

// RunBindPlugins binds the pod. A binding without a response may have been stored: until the API server shows the outcome, the
// pod keeps its allocations, because otherwise the next pod would get the same CPUs and devices. This ends with the context at
// the latest. Reserve pods are left out: their plugin writes a Reservation, and reads that back.
func (f *Framework) RunBindPlugins(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, node string) *fwk.Status {
	status := f.Framework.RunBindPlugins(ctx, state, pod, node)
	if !unanswered(status) || reservation.IsReservePod(pod) {
		return status
	}
	klog.FromContext(ctx).Info("A binding was not answered; reading the pod back", "pod", klog.KObj(pod), "node", node, "err", status.AsError())
	backoff := readBackoff
	for refused := false; ; {
		if outcome, known := f.outcome(ctx, pod, node, status); known || refused {
			return outcome
		}
		// What was sent may still arrive. Sent again, it is stored now, or conflicts with what has arrived.
		again := f.Framework.RunBindPlugins(ctx, state, pod, node)
		switch {
		case again.IsSuccess():
			return again
		case !unanswered(again):
			status, refused = again, true
		case !pause(ctx, &backoff):
			return status
		}
	}
}

// outcome reads a pod until the API server answers. It is known unless the pod is there without a node.
func (f *Framework) outcome(ctx context.Context, pod *corev1.Pod, node string, failed *fwk.Status) (outcome *fwk.Status, known bool) {
	var present *corev1.Pod
	err := UntilAnswered(ctx, func() (err error) {
		present, err = f.ClientSet().CoreV1().Pods(pod.Namespace).Get(ctx, pod.Name, metav1.GetOptions{})
		return err
	})
	switch {
	case err != nil:
		return failed, true
	case present.UID == pod.UID && present.Spec.NodeName == node:
		return nil, true
	}
	return failed, present.UID != pod.UID || present.Spec.NodeName != "" || present.DeletionTimestamp != nil
}

// UntilAnswered repeats a read until it succeeds, the API server's answer is an error, or the context ends. It returns the
// last error.
func UntilAnswered(ctx context.Context, read func() error) error {
	backoff := readBackoff
	for {
		err := read()
		if err == nil || Answered(err) || !pause(ctx, &backoff) {
			return err
		}
	}
}

// pause waits for the next step of a backoff. It is false when the context ended.
func pause(ctx context.Context, backoff *wait.Backoff) bool {
	timer := time.NewTimer(backoff.Step())
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// unanswered reports whether a binding failed without the API server saying that it did not store it.
func unanswered(status *fwk.Status) bool {
	return status.Code() == fwk.Error && !Answered(status.AsError())
}

// Answered reports whether an error is an answer of the API server that decides, so that a write that failed with it was not
// stored. One that gave up waiting, or broke down, does not decide, nor does a connection that was lost.
func Answered(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && !apierrors.IsTimeout(err) && !apierrors.IsServerTimeout(err) && !apierrors.IsInternalError(err) &&
		!apierrors.IsUnexpectedServerError(err)
}
