package install

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/deploy/release"
	"koordinator.sh/koord/kubectl-plugin/dryrun"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/messages"
)

// newTestRoot returns the commands below a root of that name, with a kubeconfig that names no cluster.
func newTestRoot(t *testing.T, name, stdin string) (*cobra.Command, *bytes.Buffer, *bytes.Buffer) {
	t.Helper()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, []byte("apiVersion: v1\nkind: Config\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errOut bytes.Buffer
	streams := genericiooptions.IOStreams{In: strings.NewReader(stdin), Out: &out, ErrOut: &errOut}
	flags := genericclioptions.NewConfigFlags(true)
	flags.KubeConfig = &kubeconfig
	root := &cobra.Command{
		Use: name, SilenceErrors: true, SilenceUsage: true,
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: name},
	}
	flags.AddFlags(root.PersistentFlags())
	root.AddCommand(NewCommands(flags, streams, func() printer.Options { return printer.Options{} })...)
	root.SetOut(&out)
	root.SetErr(&errOut)
	return root, &out, &errOut
}

func TestExportPrintsManifestsWithoutACluster(t *testing.T) {
	root, out, _ := newTestRoot(t, "koordctl", "manager: {replicas: 3}\n")
	root.SetArgs([]string{"install", "--export", "-n", "elsewhere", "-f", "-", "--set", "colocation.enable=false"})
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"kind: CustomResourceDefinition", "replicas: 3", `"enable": false`, "namespace: elsewhere"} {
		if !strings.Contains(out.String(), text) {
			t.Errorf("the manifests lack %q", text)
		}
	}
}

// TestADryRunOfTheClientAsksNoCluster: there is none to ask.
func TestADryRunOfTheClientAsksNoCluster(t *testing.T) {
	printed := func(args ...string) string {
		t.Helper()
		root, out, errOut := newTestRoot(t, "koordctl", "")
		root.SetArgs(append([]string{"install", "--set", "colocation.enable=false"}, args...))
		if err := root.ExecuteContext(t.Context()); err != nil || errOut.Len() > 0 {
			t.Fatalf("%v: %v\n%s", args, err, errOut)
		}
		return out.String()
	}
	manifests := printed("--export")
	if diff := cmp.Diff(strings.TrimPrefix(manifests, "---\n"), printed("--dry-run=client", "-o", "yaml")); diff != "" {
		t.Errorf("-o yaml differs from the manifests (-want +got):\n%s", diff)
	}
	objects, err := release.Objects(manifests)
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Kind  string
		Items []struct{ Kind string }
	}
	if err := json.Unmarshal([]byte(printed("--dry-run=client", "-o", "json")), &list); err != nil || list.Kind != "List" || len(list.Items) != len(objects) {
		t.Errorf("-o json is a %s of %d objects, %v; want %d", list.Kind, len(list.Items), err, len(objects))
	}
	names := printed("--dry-run=client", "-o", "name")
	if got := strings.Count(names, "\n"); got != len(objects) || !strings.Contains(names, "\ndeployment.apps/koord-manager\n") {
		t.Errorf("-o name has %d lines, want %d:\n%s", got, len(objects), names)
	}
	lines := strings.Split(strings.TrimSuffix(printed("--dry-run=client"), "\n"), "\n")
	for _, line := range lines {
		if !strings.HasSuffix(line, " (dry run)") {
			t.Errorf("line %q does not say that it is a dry run", line)
		}
	}
	if last := lines[len(lines)-1]; last != "release/koordinator installed (dry run)" {
		t.Errorf("the last line is %q", last)
	}
}

func TestNamesLeaveOutWhatIsKept(t *testing.T) {
	var out bytes.Buffer
	m := mutationIn(messages.English, &out)
	m.output.format = "name"
	result := &release.Result{Changes: []release.Change{
		{APIVersion: "apps/v1", Kind: "Deployment", Name: "koord-manager", Action: release.Deleted},
		{APIVersion: "v1", Kind: "ConfigMap", Name: "c", Action: release.Unchanged},
		{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: "podgroups.x", Action: release.Kept},
	}}
	if err := m.report(result, "uninstalled"); err != nil || out.String() != "deployment.apps/koord-manager\nconfigmap/c\n" {
		t.Errorf("got %q, %v", out.String(), err)
	}
}

func TestLaterValuesWin(t *testing.T) {
	folder := t.TempDir()
	first, second := filepath.Join(folder, "first.yaml"), filepath.Join(folder, "second.yaml")
	for name, text := range map[string]string{first: "a: {b: 1, c: 1}\nd: 1\n", second: "a: {b: 2}\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	flags := valueFlags{files: []string{first, second}, sets: []string{"a.e=true", "d=3"}}
	got, err := flags.merge(nil)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"a": map[string]any{"b": 2.0, "c": 1.0, "e": true}, "d": int64(3)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("values differ (-want +got):\n%s", diff)
	}
}

func TestWrongFlagsAreUsageErrors(t *testing.T) {
	tests := map[string][]string{
		"an unknown dry run":            {"install", "--dry-run=maybe"},
		"a dry run of an export":        {"install", "--export", "--dry-run=client"},
		"an export that waits":          {"install", "--export", "--wait"},
		"a timeout of nothing":          {"install", "--timeout=0s"},
		"a setting without a value":     {"install", "--set", "colocation"},
		"values that are no YAML":       {"install", "--export", "-f", "-"},
		"an unknown output format":      {"status", "-o", "wide"},
		"a removal nobody can confirm":  {"uninstall"},
		"an unknown format of a result": {"uninstall", "--yes", "-o", "xml"},
	}
	for name, args := range tests {
		t.Run(name, func(t *testing.T) {
			root, _, _ := newTestRoot(t, "koordctl", "a: [")
			root.SetArgs(args)
			err := root.ExecuteContext(t.Context())
			var coded interface{ ExitCode() int }
			if !errors.As(err, &coded) || coded.ExitCode() != 2 {
				t.Errorf("error %v does not have exit code 2", err)
			}
		})
	}
}

func TestHelpShowsTheNameOfTheProgram(t *testing.T) {
	for _, name := range []string{"koordctl", "kubectl koord"} {
		for _, command := range []string{"install", "status", "uninstall"} {
			root, out, _ := newTestRoot(t, name, "")
			root.SetArgs([]string{command, "--help"})
			if err := root.ExecuteContext(t.Context()); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(out.String(), "\n  "+name+" "+command) || strings.Contains(out.String(), "%") {
				t.Errorf("help of %s %s does not show the name:\n%s", name, command, out)
			}
		}
	}
}

func TestARefusedQuestionRemovesNothing(t *testing.T) {
	tests := map[string]bool{"y\n": true, "YES\n": true, "n\n": false, "\n": false, "": false}
	for answer, want := range tests {
		var errOut bytes.Buffer
		o := &UninstallOptions{mutation: *mutationIn(messages.English, &errOut)}
		o.In = strings.NewReader(answer)
		got, err := o.ask(t.Context(), &release.Release{Name: "koordinator", Namespace: "koordinator-system", Revision: 3})
		if err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("answer %q counts as %v, want %v", answer, got, want)
		}
	}
}

// silent is a terminal without input.
type silent struct{ until <-chan struct{} }

func (s silent) Read([]byte) (int, error) {
	<-s.until
	return 0, io.EOF
}

func TestAnInterruptionEndsTheQuestion(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	typed := make(chan struct{})
	defer close(typed)
	o := &UninstallOptions{mutation: *mutationIn(messages.English, io.Discard)}
	o.In = silent{typed}
	cancel()
	agreed, err := o.ask(ctx, &release.Release{Name: "koordinator"})
	if agreed || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v and %v, want no agreement and an interruption", agreed, err)
	}
}

func TestWrongValuesHaveAHint(t *testing.T) {
	tests := map[string]struct {
		flags    valueFlags
		stdin    string
		wantHint string
	}{
		"a setting without a value": {valueFlags{sets: []string{"foo"}}, "", "--set takes KEY=VALUE"},
		"values that are no YAML":   {valueFlags{files: []string{"-"}}, "a: [", "--values takes a YAML file"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := tc.flags.merge(strings.NewReader(tc.stdin))
			if coded, ok := finding.From(err); !ok || !strings.Contains(coded.Hint, tc.wantHint) {
				t.Errorf("error %#v, want one with a hint that contains %q", err, tc.wantHint)
			}
		})
	}
}

func TestEndlessValuesAreRefused(t *testing.T) {
	flags := valueFlags{files: []string{"-"}}
	_, err := flags.merge(strings.NewReader(strings.Repeat("#", largestValues+1)))
	if err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("error %v, want one that says the values are too large", err)
	}
}

// mutationIn is what install and uninstall have in common, for a reader of a language.
func mutationIn(language messages.Language, out io.Writer) *mutation {
	return &mutation{
		IOStreams: genericiooptions.IOStreams{Out: out, ErrOut: out},
		look:      func() printer.Options { return printer.Options{Language: language} },
	}
}

func TestChangesPrintAsKubectlPrintsThem(t *testing.T) {
	result := &release.Result{
		DryRun: true, Upgrade: true, Release: release.Release{Name: "koordinator", Revision: 4},
		Changes: []release.Change{
			{APIVersion: "apps/v1", Kind: "Deployment", Name: "koord-manager", Action: release.Configured},
			{APIVersion: "v1", Kind: "Service", Name: "koord-manager", Action: release.Created},
			{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: "podgroups.x", Action: release.Kept, Note: "has objects of users"},
		},
	}
	tests := map[messages.Language]string{
		messages.English: `deployment.apps/koord-manager configured (server dry run)
service/koord-manager created (server dry run)
customresourcedefinition.apiextensions.k8s.io/podgroups.x kept: has objects of users
release/koordinator upgraded (revision 4) (server dry run)
`,
		messages.Chinese: `deployment.apps/koord-manager 已配置（服务器端试运行）
service/koord-manager 已创建（服务器端试运行）
customresourcedefinition.apiextensions.k8s.io/podgroups.x 已保留：有用户的对象
release/koordinator 已升级（修订版本 4）（服务器端试运行）
`,
	}
	for language, want := range tests {
		t.Run(string(language), func(t *testing.T) {
			var out bytes.Buffer
			m := mutationIn(language, &out)
			m.dryRun = dryrun.Server
			if err := m.report(result, installed(result)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, out.String()); diff != "" {
				t.Errorf("output differs (-want +got):\n%s", diff)
			}
		})
	}
}
