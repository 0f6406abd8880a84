package spark

import (
	"context"
	_ "embed" // the manifests
	"errors"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/kubectl-plugin/tutorial"
	"koordinator.sh/koord/kubectl-plugin/tutorial/service"
)

//go:embed profile.yaml
var profile string

//go:embed application.yaml
var application string

// executors that the driver asks for.
const executors = 2

// submit makes Spark's pods batch pods, and submits the application.
func (s *story) submit(ctx context.Context, t *tutorial.Session) error {
	if err := t.Apply(ctx, profile); err != nil {
		return err
	}
	if err := s.operator.install(ctx, t); err != nil {
		return err
	}
	if err := s.operator.start(t, s.jars); err != nil {
		return err
	}
	if err := t.Apply(ctx, applicationFor(t.Server)); err != nil {
		return err
	}
	if err := t.Await(ctx, "the driver and its executors to run", service.StartWithin, s.sparkRuns(t)); err != nil {
		return err
	}
	if _, err := t.Kubectl(ctx, "get", "sparkapplications,pods", "-n", Namespace); err != nil {
		return err
	}
	executor := s.executors[0].Name
	_, err := t.Kubectl(ctx, "get", "pod", "-n", Namespace, executor, "-o", `jsonpath={.spec.schedulerName}{" "}{.spec.priorityClassName}{" "}{.spec.containers[0].resources.requests}{"\n"}`)
	if err != nil {
		return err
	}
	_, err = t.Koordctl(ctx, "explain", "pod", "-n", Namespace, executor)
	return err
}

// applicationFor is the application on a sandbox. The sizes are small, because the node may be: what Spark may use beyond its requests, the
// agent decides.
func applicationFor(server string) string {
	return strings.NewReplacer("IMAGE", Image, "EXECUTORS", strconv.Itoa(executors), "SERVER", server).Replace(application)
}

// sparkRuns finds the pods of Spark, which must be ready.
func (s *story) sparkRuns(t *tutorial.Session) func(context.Context) error {
	return func(ctx context.Context) error {
		var pods corev1.PodList
		if err := t.Ask(ctx, &pods, "get", "pods", "-n", Namespace, "-l", "spark-role", "-o", "json"); err != nil {
			return err
		}
		s.driver, s.executors = nil, nil
		for i := range pods.Items {
			pod := &pods.Items[i]
			if pod.Labels["spark-role"] == "driver" {
				s.driver = pod
			} else if pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil {
				s.executors = append(s.executors, pod)
			}
		}
		switch {
		case s.driver == nil:
			return s.notSubmitted(ctx, t)
		case s.driver.Status.Phase == corev1.PodFailed:
			logs, _ := t.Run(ctx, t.KubectlPath, "", "logs", "-n", Namespace, s.driver.Name, "--tail=20") // the failure says enough
			return fmt.Errorf("the driver has failed: %s", logs)
		case len(s.executors) < executors:
			return fmt.Errorf("driver %q is %s, and %d of %d executors run", s.driver.Name, s.driver.Status.Phase, len(s.executors), executors)
		}
		return nil
	}
}

// notSubmitted says why there is no driver, as far as the operator does.
func (s *story) notSubmitted(ctx context.Context, t *tutorial.Session) error {
	var application struct {
		Status struct {
			ApplicationState struct{ ErrorMessage string }
		}
	}
	if err := t.Ask(ctx, &application, "get", "sparkapplication", "words", "-n", Namespace, "-o", "json"); err != nil {
		return err
	}
	if why := application.Status.ApplicationState.ErrorMessage; why != "" {
		return fmt.Errorf("spark-operator: %s", why)
	}
	return errors.New("there is no driver")
}

func (s *story) seenSubmitted() string {
	return fmt.Sprintf("The driver and %d executors run. Their containers request no cpu and no memory, only batch-cpu and batch-memory.", len(s.executors))
}

// isBatch wants what the profile made of each pod.
func (s *story) isBatch(_ context.Context, t *tutorial.Session) error {
	pods := []corev1.Pod{*s.driver}
	for _, executor := range s.executors {
		pods = append(pods, *executor)
	}
	return service.CheckBatch(t.Node.Name, pods)
}
