package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"koordinator.sh/koord/sandbox/state"
)

// Bounds on the wait for others that write the user's kubeconfig.
const (
	kubeconfigPatience = 10 * time.Second
	kubeconfigInterval = 50 * time.Millisecond
)

// modifyKubeconfig changes the user's kubeconfig, one command of ours at a time: client-go locks the file for writing, but
// what another one added between its reading and writing would be lost. change may be called more than once, with what is
// there then.
func modifyKubeconfig(ctx context.Context, change func(*clientcmdapi.Config)) error {
	return modifyKubeconfigAt(ctx, clientcmd.NewDefaultPathOptions(), change)
}

// onlyFile is the one kubeconfig, whatever KUBECONFIG says.
func onlyFile(file string) *clientcmd.PathOptions {
	access := clientcmd.NewDefaultPathOptions()
	access.GlobalFile, access.EnvVar = file, ""
	return access
}

// kubeconfigOf is the file that a context of the user's kubeconfig is in, empty for one that there is not.
func kubeconfigOf(contextName string) (string, error) {
	config, err := clientcmd.NewDefaultPathOptions().GetStartingConfig()
	if err != nil {
		return "", fmt.Errorf("read your kubeconfig: %w", err)
	}
	found := config.Contexts[contextName]
	if found == nil || found.LocationOfOrigin == "" {
		return "", nil
	}
	return filepath.Abs(found.LocationOfOrigin)
}

func modifyKubeconfigAt(ctx context.Context, access *clientcmd.PathOptions, change func(*clientcmdapi.Config)) (err error) {
	ctx, cancel := context.WithTimeout(ctx, kubeconfigPatience)
	defer cancel()
	lock, err := lockKubeconfig(ctx)
	if err != nil {
		return fmt.Errorf("lock your kubeconfig: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	for {
		config, err := access.GetStartingConfig()
		if err != nil {
			return fmt.Errorf("read your kubeconfig: %w", err)
		}
		change(config)
		err = clientcmd.ModifyConfig(access, *config, true)
		if err == nil {
			return nil
		}
		// kubectl, say, is writing it; or it was killed while it did.
		if !errors.Is(err, fs.ErrExist) || !pause(ctx, kubeconfigInterval) {
			return fmt.Errorf("write your kubeconfig: %w", err)
		}
	}
}

// lockKubeconfig waits for the other commands of ours that change the user's kubeconfig.
func lockKubeconfig(ctx context.Context) (*flock.Flock, error) {
	home, err := state.Home(os.Getenv)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, err
	}
	lock := flock.New(filepath.Join(home, "contexts.lock"))
	_, err = lock.TryLockContext(ctx, kubeconfigInterval)
	return lock, err
}

// pause reports whether a time has passed before ctx ended.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
