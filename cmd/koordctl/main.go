// Command koordctl is the workbench: it installs, watches and explains co-location. Called as kubectl-koord it is the
// kubectl plugin "kubectl koord".
package main

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/go-logr/logr"
	"golang.org/x/term"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // so that users of cloud providers can log in
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/agent/host/program"
	kubectlplugin "koordinator.sh/koord/kubectl-plugin"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/live"
)

// version is set by the linker.
var version = "devel"

func main() {
	_ = program.Release() // what most of the packages need to start; where it fails, it stays as any program's does
	os.Exit(run())
}

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// client-go logs what it will report as an error anyway. Without a logger, klog would write errors to stderr wherever else its output goes.
	klog.SetLogger(logr.Discard())
	options := kubectlplugin.Options{
		Name:     calledName(os.Args[0]),
		Version:  buildVersion(),
		Streams:  genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr},
		Environ:  os.Environ(),
		Terminal: terminal(),
		Clock:    clock.RealClock{},
		Connect:  connect,
	}
	return kubectlplugin.ExitCode(kubectlplugin.Run(ctx, options, os.Args[1:]))
}

func connect(config clientcmd.ClientConfig, connection kubectlplugin.Connection) (source.Source, error) {
	return live.New(config, live.Options{
		UserAgent: connection.UserAgent, Warn: connection.Warn, Clock: clock.RealClock{},
		Context: connection.Context, Cluster: connection.Cluster, User: connection.User,
	}), nil
}

// calledName is the name help shows: kubectl runs a plugin as kubectl-koord.
func calledName(program string) string {
	name := strings.TrimSuffix(filepath.Base(program), ".exe")
	if plugin, ok := strings.CutPrefix(name, "kubectl-"); ok {
		return "kubectl " + strings.ReplaceAll(plugin, "_", "-")
	}
	return "koordctl"
}

func terminal() kubectlplugin.Terminal {
	t := kubectlplugin.Terminal{
		Output: term.IsTerminal(int(os.Stdout.Fd())),
		Error:  term.IsTerminal(int(os.Stderr.Fd())),
		Input:  term.IsTerminal(int(os.Stdin.Fd())),
	}
	if width, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil {
		t.Width = width
	}
	return t
}

func buildVersion() kubectlplugin.Version {
	v := kubectlplugin.Version{Version: version, GoVersion: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			v.Commit = setting.Value
		}
	}
	return v
}
