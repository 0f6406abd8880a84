package spark

import (
	"context"
	_ "embed" // the manifests
	"errors"
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/kubectl-plugin/tutorial"
	"koordinator.sh/koord/kubectl-plugin/tutorial/service"
)

//go:embed profile.yaml
var profile string

//go:embed driver.yaml
var driverTemplate []byte

// executors that the driver asks for.
const executors = 2

// submit makes Spark's pods batch pods, and submits the application.
func (s *story) submit(ctx context.Context, t *tutorial.Session) error {
	if err := t.Apply(ctx, profile); err != nil {
		return err
	}
	template := filepath.Join(t.Work, "driver.yaml")
	if err := os.WriteFile(template, driverTemplate, 0o600); err != nil {
		return err
	}
	t.Show("cat driver.yaml", string(driverTemplate))
	if err := s.sparkSubmit(ctx, t, s.arguments(t, template)...); err != nil {
		return err
	}
	if err := t.Await(ctx, "the driver and its executors to run", service.StartWithin, s.sparkRuns(t)); err != nil {
		return err
	}
	if _, err := t.Kubectl(ctx, "get", "pods", "-n", Namespace, "-L", "spark-role,"+extension.LabelPodQoS); err != nil {
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

// arguments of spark-submit. The sizes are small, because the node may be: what Spark may use beyond its requests, the agent decides.
func (s *story) arguments(t *tutorial.Session, template string) []string {
	args := []string{"--master", "k8s://" + t.Server, "--deploy-mode", "cluster", "--name", "words", "--class", "Words"}
	for _, setting := range []string{
		"spark.kubernetes.namespace=" + Namespace,
		"spark.kubernetes.container.image=" + Image,
		"spark.kubernetes.container.image.pullPolicy=Never",
		"spark.kubernetes.driver.master=" + t.Server,
		"spark.kubernetes.driver.podTemplateFile=" + filepath.Base(template),
		"spark.kubernetes.authenticate.driver.serviceAccountName=spark",
		"spark.kubernetes.submission.waitAppCompletion=false",
		fmt.Sprintf("spark.executor.instances=%d", executors),
		"spark.kubernetes.driver.request.cores=20m", "spark.kubernetes.executor.request.cores=50m",
		"spark.driver.memory=512m", "spark.executor.memory=512m",
		"spark.kubernetes.driverEnv.SPARK_LOCAL_HOSTNAME=localhost",
		"spark.kubernetes.driverEnv.JAVA_TOOL_OPTIONS=-Xmx512m", "spark.executorEnv.JAVA_TOOL_OPTIONS=-Xmx512m",
		"spark.ui.enabled=false", "spark.log.level=WARN",
	} {
		args = append(args, "--conf", setting)
	}
	return append(args, "local:///opt/jars/tutorial.jar")
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
			return errors.New("there is no driver")
		case s.driver.Status.Phase == corev1.PodFailed:
			logs, _ := t.Run(ctx, t.KubectlPath, "", "logs", "-n", Namespace, s.driver.Name, "--tail=20") // the failure says enough
			return fmt.Errorf("the driver has failed: %s", logs)
		case len(s.executors) < executors:
			return fmt.Errorf("driver %q is %s, and %d of %d executors run", s.driver.Name, s.driver.Status.Phase, len(s.executors), executors)
		}
		return nil
	}
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
