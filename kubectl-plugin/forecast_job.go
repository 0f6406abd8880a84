package kubectlplugin

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/jobinsight"
	"koordinator.sh/koord/kubectl-plugin/manifest"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
)

const forecastJobLong = `Forecast the job of a pod from former runs of its kind: peak memory, mean CPU and duration; of one that runs, what remains; of one that
waits, when its quota has room for it, and when it would end.

  LIKELY     as likely exceeded as not
  AT-LEAST, AT-MOST
             the interval that covers --confidence of the runs
  REQUESTED  what the pod requests
  RUNS       former runs that were measured to their end
  FROM       who told of them: pods, whose usage was measured, or an engine
  BASIS      what these runs have in common with the job; the more, the better

A kind is a user, queue, application and shape. They are the annotations koordinator.sh/job-user, job-queue, job-application and job-shape of
the pod, or else its namespace, its quota, the name of its Job or Spark application, and its role in Spark. koord-manager learns them from
pods that end, and from engines, whose applications and queries are no pods: --job-application and its like forecast these.
-o wide shows what else was tried.

A job that waits starts once its quota has room for it: when that is, is computed from what remains of the jobs that hold the quota, and from
the pods that wait before it. Whether a node has room then is not predicted.`

const forecastJobExamples = `  # Forecast a job that runs or waits
  %[1]s forecast job report-29384756-x7k2p -n etl

  # Forecast a job before it is created
  %[1]s forecast job -f job.yaml

  # Forecast an application of YARN
  %[1]s forecast job --job-application=wordcount --job-shape=yarn/MAPREDUCE

  # Print the memory that 1%% of its runs would exceed, in bytes
  %[1]s forecast job -f job.yaml --confidence 0.98 -o jsonpath='{.estimates[?(@.metric=="memory")].high}'`

type forecastJobOptions struct {
	output
	strict          bool
	file            string
	kind            jobinsight.Kind
	confidence      float64
	namespace, name string
}

func newForecastJobCommand(s *session) *cobra.Command {
	o := &forecastJobOptions{}
	cmd := &cobra.Command{
		Use:               "job POD | -f FILENAME | --job-application NAME",
		Aliases:           []string{"jobs"},
		Short:             "Forecast what the job of a pod uses, and when it ends",
		Long:              forecastJobLong,
		Example:           fmt.Sprintf(forecastJobExamples, s.Name),
		Annotations:       map[string]string{answerAnnotation: "JobForecast"},
		Args:              atMostOne("pod name"),
		ValidArgsFunction: completeNames(s, source.KindPod, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(s, args); err != nil {
				return err
			}
			return o.run(cmd.Context(), s)
		},
	}
	o.output.addFlags(cmd, true)
	addStrictFlag(cmd, &o.strict)
	cmd.Flags().StringVarP(&o.file, "filename", "f", "", "Manifest of a Pod or a Job, - for standard input")
	cmd.Flags().StringVar(&o.kind.Application, "job-application", "", "Name of an application that is not a pod")
	cmd.Flags().StringVar(&o.kind.User, "job-user", "", "Who runs the application")
	cmd.Flags().StringVar(&o.kind.Queue, "job-queue", "", "Queue of the application")
	cmd.Flags().StringVar(&o.kind.Shape, "job-shape", "", "Shape of the application, such as yarn/MAPREDUCE")
	cmd.Flags().Float64Var(&o.confidence, "confidence", jobinsight.DefaultConfidence, "Share of the results that intervals are to cover, 0.5 to 0.99")
	return cmd
}

func (o *forecastJobOptions) complete(s *session, args []string) error {
	if named := o.kind != (jobinsight.Kind{}); o.asked(args) != 1 || named && o.kind.Application == "" {
		return usage("must specify either a pod, --filename or --job-application")
	}
	if !(o.confidence >= jobinsight.LeastConfidence && o.confidence <= jobinsight.MostConfidence) {
		return usage("--confidence %g: must be %g to %g", o.confidence, jobinsight.LeastConfidence, jobinsight.MostConfidence)
	}
	if len(args) > 0 {
		var err error
		if o.namespace, o.name, err = s.object(source.KindPod, args[0]); err != nil {
			return err
		}
	}
	return o.output.complete()
}

// asked counts the ways in which a job is named.
func (o *forecastJobOptions) asked(args []string) int {
	count := len(args)
	if o.file != "" {
		count++
	}
	if o.kind != (jobinsight.Kind{}) {
		count++
	}
	return count
}

func (o *forecastJobOptions) run(ctx context.Context, s *session) error {
	answer, err := o.forecast(ctx, s)
	if err != nil {
		return err
	}
	name := answer.Pod.Name
	if name == "" {
		name = answer.Pod.GenerateName
	}
	if !answer.IsJob {
		return finding.Wrap(fmt.Errorf("pod %q in namespace %q is no job", name, answer.Pod.Namespace), finding.InvalidArgument,
			"jobs are pods of Jobs and of Spark, and pods with annotation koordinator.sh/job-application")
	}
	forecast := printer.NewJobForecast(name, answer.Answer, answer.Start, answer.Missing)
	object, err := objectOf("JobForecast", name, forecast)
	if err != nil {
		return err
	}
	object.SetNamespace(answer.Pod.Namespace)
	err = o.print(s, object, source.KindPod.Name, func(w io.Writer, options printer.Options) error { return printer.Job(w, forecast, options) })
	if err != nil {
		return err
	}
	return incomplete(s, forecast.Incomplete, o.strict)
}

func (o *forecastJobOptions) forecast(ctx context.Context, s *session) (*source.JobForecast, error) {
	var planned *corev1.Pod
	if o.kind.Application != "" {
		planned = jobinsight.PodOf(o.kind)
	}
	if o.file != "" {
		var err error
		if planned, err = o.read(s); err != nil {
			return nil, err
		}
	}
	src, err := s.connect()
	if err != nil {
		return nil, err
	}
	forecaster, can := src.(source.JobForecaster)
	if !can {
		return nil, errors.New("this source does not forecast jobs")
	}
	if planned != nil {
		return forecaster.ForecastNewJob(ctx, planned, o.confidence)
	}
	return forecaster.ForecastJob(ctx, o.namespace, o.name, o.confidence)
}

// read reads the only pod of the manifest.
func (o *forecastJobOptions) read(s *session) (*corev1.Pod, error) {
	namespace, err := s.namespace()
	if err != nil {
		return nil, err
	}
	pods := manifest.NewPods(namespace, *s.flags.Namespace != "")
	if err := readManifest(s, o.file, pods); err != nil {
		return nil, err
	}
	for _, line := range pods.Warnings {
		s.tell("Warning: %s", line)
	}
	if len(pods.Items) != 1 {
		return nil, finding.Wrap(fmt.Errorf("the manifest has %d pods, want 1", len(pods.Items)), finding.InvalidArgument, "-f takes a Pod, Job or CronJob")
	}
	return pods.Items[0].Pod, nil
}
