package sandbox

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"koordinator.sh/koord/sandbox/pki"
)

func newKubeconfigCommand(streams genericiooptions.IOStreams) *cobra.Command {
	var t target
	cmd := &cobra.Command{
		Use:     "kubeconfig",
		Short:   "Print the administrator's kubeconfig of a sandbox",
		Example: "  %[1]s sandbox kubeconfig > sandbox.kubeconfig",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := t.complete(cmd); err != nil {
				return err
			}
			sandbox, err := t.existing()
			if err != nil {
				return err
			}
			data, err := os.ReadFile(sandbox.Dir.Kubeconfig())
			if err != nil {
				return fmt.Errorf("read the sandbox's kubeconfig: %w", err)
			}
			_, err = streams.Out.Write(data)
			return err
		},
	}
	t.addFlags(cmd)
	return cmd
}

// mergeKubeconfig adds the sandbox's context to the user's kubeconfig. It returns which context was current before and
// reports whether the sandbox's is now. It becomes that when the user asks for it, has no current context, or has a
// sandbox's.
func mergeKubeconfig(ctx context.Context, file, contextName string, switchTo bool) (before string, current bool, err error) {
	sandbox, err := clientcmd.LoadFromFile(file)
	if err != nil {
		return "", false, fmt.Errorf("read the sandbox's kubeconfig: %w", err)
	}
	if sandbox.Clusters[contextName] == nil || sandbox.AuthInfos[contextName] == nil || sandbox.Contexts[contextName] == nil {
		return "", false, fmt.Errorf("read the sandbox's kubeconfig: it has no context %q", contextName)
	}
	err = modifyKubeconfig(ctx, func(user *clientcmdapi.Config) {
		before = user.CurrentContext
		adopt(user, sandbox, contextName)
		if switchTo || before == "" || strings.HasPrefix(before, pki.ContextName("")) {
			user.CurrentContext = contextName
		}
		current = user.CurrentContext == contextName
	})
	return before, current, err
}

// adopt copies a context with its cluster and user. Each entry is written to the file it says it comes from: the one that
// has it already, else the user's own default.
func adopt(user, sandbox *clientcmdapi.Config, name string) {
	cluster, authInfo, context := sandbox.Clusters[name], sandbox.AuthInfos[name], sandbox.Contexts[name]
	cluster.LocationOfOrigin, authInfo.LocationOfOrigin, context.LocationOfOrigin = "", "", ""
	if old := user.Clusters[name]; old != nil {
		cluster.LocationOfOrigin = old.LocationOfOrigin
	}
	if old := user.AuthInfos[name]; old != nil {
		authInfo.LocationOfOrigin = old.LocationOfOrigin
	}
	if old := user.Contexts[name]; old != nil {
		context.LocationOfOrigin = old.LocationOfOrigin
		context.Namespace = old.Namespace // the user may have chosen one
	}
	user.Clusters[name], user.AuthInfos[name], user.Contexts[name] = cluster, authInfo, context
}

// forgetKubeconfig removes the sandbox's context from the user's kubeconfig. When it was the current one, the first of
// the successors that exists takes its place, or none does; current is which, and changed reports that it happened.
func forgetKubeconfig(ctx context.Context, contextName string, successors []string) (current string, changed bool, err error) {
	return forgetKubeconfigAt(ctx, clientcmd.NewDefaultPathOptions(), contextName, successors)
}

func forgetKubeconfigAt(ctx context.Context, access *clientcmd.PathOptions, contextName string, successors []string) (current string, changed bool, err error) {
	err = modifyKubeconfigAt(ctx, access, func(user *clientcmdapi.Config) {
		delete(user.Clusters, contextName)
		delete(user.AuthInfos, contextName)
		delete(user.Contexts, contextName)
		if changed = user.CurrentContext == contextName; !changed {
			return
		}
		user.CurrentContext = ""
		for _, successor := range successors {
			if user.Contexts[successor] != nil {
				user.CurrentContext = successor
				break
			}
		}
		current = user.CurrentContext
	})
	return current, changed, err
}
