// Command recording makes the recordings in docs/recordings from a sandbox of its own: for each journey a file for `asciinema play`, and a
// picture that moves for pages that show images only. It is below build/ like the programs that write other pages: the product does not
// contain it, and a user needs it as little.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"

	"koordinator.sh/koord/build/recording/journey"
	"koordinator.sh/koord/build/recording/picture"
	"koordinator.sh/koord/test/sandboxtest"
)

func main() {
	out := flag.String("out", "docs/recordings", "directory to write the recordings to")
	only := flag.String("journey", "", "name of the only journey to record")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *out, *only); err != nil {
		stop()
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out, only string) (err error) {
	journeys := slices.DeleteFunc(journey.All(), func(j journey.Journey) bool { return only != "" && j.Name != only })
	if len(journeys) == 0 {
		return fmt.Errorf("journey %q does not exist", only)
	}
	home, err := os.MkdirTemp("", "koord-recording-")
	if err != nil {
		return fmt.Errorf("make a directory for the sandbox: %w", err)
	}
	sandbox, err := sandboxtest.New("demo", home)
	if err != nil {
		return errors.Join(err, os.RemoveAll(home))
	}
	defer func() {
		// Also after an interrupt, nothing goes on running.
		down := sandbox.Down(context.WithoutCancel(ctx))
		err = errors.Join(err, down)
		if down == nil {
			err = errors.Join(err, os.RemoveAll(home))
		}
	}()
	fmt.Println("starting a sandbox of 30 nodes")
	if err := sandbox.Up(ctx, "--nodes", "30"); err != nil {
		return err
	}
	for _, j := range journeys {
		fmt.Printf("recording %s\n", j.Name)
		if err := record(ctx, sandbox, j, out); err != nil {
			return fmt.Errorf("journey %s: %w", j.Name, err)
		}
	}
	return nil
}

// record plays a journey and writes its files.
func record(ctx context.Context, sandbox *sandboxtest.Sandbox, j journey.Journey, out string) error {
	if err := prepare(ctx, sandbox, j); err != nil {
		return err
	}
	recording, err := play(ctx, sandbox, j)
	if err != nil {
		return err
	}
	names, err := local(sandbox)
	if err != nil {
		return err
	}
	if err := neutral(recording, names); err != nil {
		return err
	}
	file, err := recording.Encode()
	if err != nil {
		return err
	}
	drawn, err := picture.Draw(recording)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return fmt.Errorf("make a directory for the recordings: %w", err)
	}
	if err := os.WriteFile(filepath.Join(out, j.Name+".cast"), file, 0o644); err != nil {
		return fmt.Errorf("write the recording: %w", err)
	}
	if err := os.WriteFile(filepath.Join(out, j.Name+".svg"), drawn, 0o644); err != nil {
		return fmt.Errorf("write the picture: %w", err)
	}
	return nil
}
