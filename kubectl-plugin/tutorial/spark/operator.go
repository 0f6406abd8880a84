package spark

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/kubectl-plugin/tutorial"
)

// operator is spark-operator: it submits what SparkApplications describe, by the spark-submit of a folder with Spark. It runs as a process
// on this machine, where Spark is, with the rights of the sandbox's administrator.
type operator struct {
	// program and manifests are what was built from its module.
	program, manifests string
}

// definitions are the kinds that it serves, as arguments of kubectl.
var definitions = []string{
	"customresourcedefinition/sparkapplications.sparkoperator.k8s.io",
	"customresourcedefinition/scheduledsparkapplications.sparkoperator.k8s.io",
	"customresourcedefinition/sparkconnects.sparkoperator.k8s.io",
}

// servedWithin is how long the API server may take to serve a kind that was defined.
const servedWithin = time.Minute

// operatorEndsWithin is how long it may take to end before it is killed.
const operatorEndsWithin = 10 * time.Second

// findOperator finds what was built beside koordctl.
func findOperator(koordctl string) (operator, error) {
	folder := filepath.Join(filepath.Dir(koordctl), "ecosystem", "spark-operator")
	o := operator{program: filepath.Join(folder, "manager"), manifests: filepath.Join(folder, "manifests.yaml")}
	for _, path := range []string{o.program, o.manifests} {
		if _, err := os.Stat(path); err != nil {
			return operator{}, finding.Wrap(fmt.Errorf("find spark-operator beside koordctl: %w", err), finding.InvalidArgument, "make spark-operator")
		}
	}
	return o, nil
}

// install creates its definitions, and returns when the API server serves them.
func (o operator) install(ctx context.Context, t *tutorial.Session) error {
	manifests, err := os.Open(o.manifests)
	if err != nil {
		return err
	}
	defer manifests.Close()
	crds, err := definitionsOf(manifests)
	if err != nil {
		return fmt.Errorf("read %s: %w", o.manifests, err)
	}
	const name = "spark-operator-crds.yaml"
	if err := os.WriteFile(filepath.Join(t.Work, name), crds, 0o600); err != nil {
		return err
	}
	if _, err = t.Kubectl(ctx, "apply", "--server-side", "-f", name); err != nil {
		return err
	}
	return t.Await(ctx, "the API server to serve SparkApplications", servedWithin, func(ctx context.Context) error {
		_, err := t.Run(ctx, t.KubectlPath, "", "get", "sparkapplications", "-n", Namespace)
		return err
	})
}

// definitionsOf are the CustomResourceDefinitions among manifests.
func definitionsOf(manifests io.Reader) ([]byte, error) {
	var out bytes.Buffer
	for documents := utilyaml.NewYAMLReader(bufio.NewReader(manifests)); ; {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return out.Bytes(), nil
		}
		if err != nil {
			return nil, err
		}
		var object struct{ Kind string }
		if err := yaml.Unmarshal(document, &object); err != nil {
			return nil, err
		}
		if object.Kind == "CustomResourceDefinition" {
			out.WriteString("---\n")
			out.Write(document)
		}
	}
}

// start runs the operator until the end of the tutorial.
func (o operator) start(t *tutorial.Session, jars string) error {
	home := filepath.Join(t.Work, "spark")
	if err := writeSparkSubmit(home, jars); err != nil {
		return err
	}
	server, err := url.Parse(t.Server)
	if err != nil {
		return fmt.Errorf("the address of the API server: %w", err)
	}
	arguments := []string{"controller", "start", "--namespaces", Namespace, "--enable-ui-service=false"}
	command := exec.Command(o.program, append(arguments, "--health-probe-bind-address=0")...)
	command.Env = append(os.Environ(), "KUBECONFIG="+t.Kubeconfig, "SPARK_HOME="+home,
		"KUBERNETES_SERVICE_HOST="+server.Hostname(), "KUBERNETES_SERVICE_PORT="+server.Port())
	if err := command.Start(); err != nil {
		return fmt.Errorf("start spark-operator: %w", err)
	}
	t.Undo(func(context.Context) error {
		_ = command.Process.Signal(syscall.SIGTERM) // it may have ended
		kill := time.AfterFunc(operatorEndsWithin, func() { _ = command.Process.Kill() })
		defer kill.Stop()
		_ = command.Wait() // by the signal
		return nil
	})
	t.Show("spark-operator "+strings.Join(arguments, " ")+" &", "")
	return nil
}

// writeSparkSubmit writes the script of that name, which in a distribution of Spark is a script around the same class of the jars.
func writeSparkSubmit(home, jars string) error {
	if err := os.MkdirAll(filepath.Join(home, "bin"), 0o700); err != nil {
		return err
	}
	script := fmt.Sprintf("#!/bin/sh\nexec java %s -cp '%s' org.apache.spark.deploy.SparkSubmit \"$@\"\n",
		strings.Join(options(), " "), filepath.Join(jars, "*"))
	return os.WriteFile(filepath.Join(home, "bin", "spark-submit"), []byte(script), 0o700)
}
