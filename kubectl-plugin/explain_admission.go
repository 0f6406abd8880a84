package kubectlplugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/kubectl-plugin/manifest"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
)

const explainAdmissionLong = `Explain what admission of Koordinator would do with the pods of manifests, without creating anything: which ClusterColocationProfiles
match, and which selector of the others does not; the fields that change, and whether the API server or koord-manager changes them; the QoS
class and priority class; the ElasticQuota, and whether the pod fits it now; what validation rejects.

Manifests are Pods, pod templates of Deployments, ReplicaSets, ReplicationControllers, StatefulSets, DaemonSets, Jobs and CronJobs,
PodTemplates, and Lists of them. Each pod is explained by itself: replicas are not added up. The answer is computed by the code of
koord-manager and koord-scheduler from API objects. Other admission plugins, such as LimitRanger, and the policies of the chart that
protect allocations are not part of it; --verify includes them.`

const explainAdmissionExamples = `  # Explain what happens to the pods of a Deployment
  %[1]s explain admission -f deployment.yaml -n shop

  # Also ask the API server in a dry run, and say where its answer differs
  %[1]s explain admission -f deployment.yaml --verify

  # Fail in a script if a pod would be rejected
  kustomize build | %[1]s explain admission -f - --fail-on=error --strict

  # Print the batch and mid resources that containers get
  %[1]s explain admission -f pod.yaml -o jsonpath='{range .items[*].changes[*]}{.field}={.after}{"\n"}{end}'`

type explainAdmissionOptions struct {
	output
	gate
	files  []string
	verify bool
}

func newExplainAdmissionCommand(s *session) *cobra.Command {
	o := &explainAdmissionOptions{}
	cmd := &cobra.Command{
		Use:         "admission -f FILENAME",
		Short:       "Explain what admission would do with the pods of manifests",
		Long:        explainAdmissionLong,
		Example:     fmt.Sprintf(explainAdmissionExamples, s.Name),
		Annotations: map[string]string{answerAnnotation: "AdmissionExplanationList"},
		Args:        cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkFiles(o.files); err != nil {
				return err
			}
			if err := o.gate.complete(); err != nil {
				return err
			}
			if err := o.output.complete(); err != nil {
				return err
			}
			return o.run(cmd.Context(), s)
		},
	}
	o.output.addFlags(cmd, false)
	o.gate.addFlags(cmd)
	cmd.Flags().StringArrayVarP(&o.files, "filename", "f", nil, "Manifest of the pods, - for standard input; can be repeated")
	cmd.Flags().BoolVar(&o.verify, "verify", false, "Also ask the API server to create each pod in a dry run, which needs permission to create pods")
	return cmd
}

// checkFiles checks what -f names.
func checkFiles(files []string) error {
	if len(files) == 0 {
		return usage("must specify --filename")
	}
	if slices.Index(files, "-") != lastIndex(files, "-") {
		return usage("--filename - can be used once")
	}
	return nil
}

func lastIndex(list []string, value string) int {
	for i, item := range slices.Backward(list) {
		if item == value {
			return i
		}
	}
	return -1
}

func (o *explainAdmissionOptions) run(ctx context.Context, s *session) error {
	pods, err := o.read(s)
	if err != nil {
		return err
	}
	src, err := s.connect()
	if err != nil {
		return err
	}
	explainer, can := src.(source.AdmissionExplainer)
	if !can {
		return errors.New("explain admission: not available from this source")
	}
	answer, err := explainer.ExplainAdmission(ctx, source.AdmissionQuery{Pods: pods, DryRun: o.verify})
	if err != nil {
		return err
	}
	if err := o.show(s, answer); err != nil {
		return err
	}
	var found []diagnosticsv1alpha1.Finding
	for i := range answer.Items {
		found = append(found, answer.Items[i].Findings...)
	}
	return o.gate.check(s, found, answer.Incomplete)
}

// read reads the pods of all manifests, and says what it leaves out.
func (o *explainAdmissionOptions) read(s *session) ([]source.AdmissionPod, error) {
	namespace, err := s.namespace()
	if err != nil {
		return nil, err
	}
	pods := manifest.NewPods(namespace, *s.flags.Namespace != "")
	for _, name := range o.files {
		if err := readManifest(s, name, pods); err != nil {
			return nil, err
		}
	}
	for _, line := range pods.Warnings {
		s.tell("Warning: %s", line)
	}
	if len(pods.Items) == 0 {
		return nil, finding.Wrap(errors.New("the manifests have no pods"), finding.InvalidArgument, "-f takes Pods and workloads, such as Deployments")
	}
	return pods.Items, nil
}

// readManifest reads a file, or standard input, into what reads manifests.
func readManifest(s *session, name string, into interface{ Read(io.Reader) error }) error {
	in := s.Streams.In
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return finding.Wrap(fmt.Errorf("read the manifest: %w", err), finding.InvalidArgument, "-f takes a file, or - for standard input")
		}
		defer file.Close()
		in = file
	}
	if err := into.Read(in); err != nil {
		return finding.Wrap(fmt.Errorf("read manifest %q: %w", name, err), finding.InvalidArgument, "kubectl create --dry-run=client -f "+name)
	}
	return nil
}

// show prints the answers; by name, the objects of the manifests.
func (o *explainAdmissionOptions) show(s *session, answer *diagnosticsv1alpha1.AdmissionExplanationList) error {
	if o.format != "name" {
		return o.print(s, answer, "", func(w io.Writer, options printer.Options) error { return printer.Admission(w, answer, options) })
	}
	for i := range answer.Items {
		item := &answer.Items[i]
		kind := strings.ToLower(item.Object.Kind)
		if group, _, grouped := strings.Cut(item.Object.APIVersion, "/"); grouped {
			kind += "." + group
		}
		if _, err := fmt.Fprintf(s.Streams.Out, "%s/%s\n", kind, item.Name); err != nil {
			return err
		}
	}
	return nil
}
