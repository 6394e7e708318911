package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/config"
	"github.com/gridhook/gridhook/events/backup"
)

const recipientEnv = "GRIDHOOK_BACKUP_RECIPIENT"

func newBackupCommand(g *globals) *cobra.Command {
	var (
		to       []string
		retained int
	)
	cmd := &cobra.Command{
		Annotations: map[string]string{connection: operatorOnly},
		Use:         "backup FILE|FOLDER", Short: "Back up a running server into an encrypted file", Args: takes("the file or the folder"),
		Long: `Write a consistent backup of a running server or fleet to one file: everything that it
has accepted and stored. No process has to stop.

The file is encrypted to public keys of "gridhook backup keygen". The machine that makes
backups needs only a public key. "gridhook restore" restores a backup.

In a folder the name of the file has the time, and --keep deletes the oldest files.`,
		Example: `  gridhook backup keygen backup.key
  gridhook backup /backups/gridhook.backup --recipient age1...
  gridhook backup /backups/ --keep 14 --recipient age1...
  gridhook backup check /backups/gridhook.backup --identity backup.key`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if text := g.getenv(recipientEnv); len(to) == 0 && text != "" {
				to = strings.Split(text, ",")
			}
			if err := g.ofOperator("backups"); err != nil {
				return err
			}
			if err := backup.CheckRecipients(to); err != nil {
				return usagef("%v", err)
			}
			path, folder := backupPath(args[0], time.Now())
			switch {
			case retained < 0:
				return usagef("--keep must be 0 or more, not %d", retained)
			case retained > 0 && !folder:
				return usagef("--keep needs an existing folder: create %s, or name another folder", args[0])
			}
			c, err := g.connect()
			if err != nil {
				return err
			}
			size, err := g.takeBackup(cmd.Context(), c, path, to)
			if err != nil {
				return err
			}
			deleted := []string{} // null in JSON otherwise
			if retained > 0 {
				if deleted, err = deleteOldBackups(args[0], retained); err != nil {
					return err
				}
			}
			return g.show(map[string]any{"file": path, "bytes": size, "deleted": deleted}, func(w io.Writer) {
				row(w, "backed up into "+path+", "+config.Size(size).Rounded())
				for _, old := range deleted {
					row(w, "deleted "+old)
				}
			})
		},
	}
	cmd.Flags().StringSliceVar(&to, "recipient", nil, "public `keys` of the backup's readers, comma-separated ("+recipientEnv+")")
	cmd.Flags().IntVar(&retained, "keep", 0, "`number` of backups to keep in the folder; 0 keeps all")
	g.talks(cmd)
	cmd.AddCommand(newBackupKeygen(g), newBackupCheck(g))
	return cmd
}

// takeBackup writes a backup to a file. The file appears only when it is complete.
func (g *globals) takeBackup(ctx context.Context, c *client.Client, path string, to []string) (size int64, err error) {
	if _, err := os.Stat(path); err == nil {
		return 0, fmt.Errorf("%s exists already: name another file", path)
	}
	b, err := c.Backup(ctx, to)
	if err != nil {
		return 0, err
	}
	defer b.Close() //nolint:errcheck // it was read to its end or is of no use
	progress := g.newProgress()
	defer progress.end()
	size, err = saveFile(path, &countingReader{r: b, each: func(n int64) {
		progress.show(config.Size(n).Rounded()+" backed up"+progress.rate(n>>20, "MiB", n, 0), 0, 0)
	}})
	_, writing := errors.AsType[*fs.PathError](err)
	_, renaming := errors.AsType[*os.LinkError](err)
	switch {
	case err == nil:
		return size, nil
	case writing, renaming:
		return 0, fmt.Errorf("backup incomplete: %w", err)
	}
	return 0, fmt.Errorf("backup incomplete: %w; see the server's log", err)
}

func newBackupKeygen(g *globals) *cobra.Command {
	return &cobra.Command{
		Annotations: map[string]string{connection: noConnection},
		Use:         "keygen FILE", Short: "Create a key pair for backups and print the public key", Args: takes("the file"),
		Example: `  gridhook backup keygen backup.key`,
		Long: `Create a key pair of age (age-encryption.org) for backups. FILE receives the private
key, which decrypts backups. Store it apart from the server and the backups: without it no
backup can be read. The command prints the public key, for --recipient.`,
		RunE: func(_ *cobra.Command, args []string) error {
			private, public, err := backup.NewKey()
			if err != nil {
				return err
			}
			f, err := os.OpenFile(args[0], os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) //nolint:gosec // the user names the file
			if errors.Is(err, fs.ErrExist) {
				return fmt.Errorf("%s exists already: name another file", args[0])
			}
			if err != nil {
				return err
			}
			text := fmt.Sprintf("# private key of the backups for %s\n%s\n", public, private)
			if _, err := fill(f, strings.NewReader(text)); err != nil {
				return err
			}
			return g.show(map[string]string{"recipient": public, "file": args[0]}, func(w io.Writer) { row(w, public) })
		},
	}
}

func newBackupCheck(g *globals) *cobra.Command {
	var identity string
	cmd := &cobra.Command{
		Annotations: map[string]string{connection: noConnection},
		Use:         "check FILE", Short: "Check that a backup is complete and readable", Args: takes("the file"),
		Example: `  gridhook backup check gridhook.backup --identity backup.key`,
		RunE: func(_ *cobra.Command, args []string) error {
			b, err := g.openBackup(args[0], identity)
			if err != nil {
				return err
			}
			return g.show(b, func(w io.Writer) { showBackup(w, b) })
		},
	}
	cmd.Flags().StringVar(&identity, "identity", "", "`file` with the private key")
	_ = cmd.MarkFlagRequired("identity") // it was added the line before
	return cmd
}

func (g *globals) openBackup(path, identity string) (*backup.Backup, error) {
	keys, err := readFile(identity, g.in)
	if err != nil {
		return nil, err
	}
	return backup.Open(path, string(keys))
}

func showBackup(w io.Writer, b *backup.Backup) {
	row(w, "backup of", b.Manifest.CreatedAt.Format("2006-01-02T15:04:05Z"))
	row(w, "by", "gridhook "+b.Manifest.Gridhook)
	row(w, "schema", b.Manifest.Schema)
	for _, s := range b.Streams {
		row(w, s.Name, fmt.Sprintf("%d messages", s.Messages))
	}
}

// backupName is the name of a backup in a folder. Names sort by age.
const (
	backupName = "gridhook-20060102T150405Z.backup"
	backupGlob = "gridhook-????????T??????Z.backup"
)

// backupPath returns where a backup is written: to a file, or to a new file in a folder.
func backupPath(to string, now time.Time) (path string, folder bool) {
	if info, err := os.Stat(to); err != nil || !info.IsDir() {
		return to, false
	}
	return filepath.Join(to, now.UTC().Format(backupName)), true
}

// deleteOldBackups deletes all but the newest backups of a folder and returns their paths.
func deleteOldBackups(folder string, keep int) ([]string, error) {
	entries, err := os.ReadDir(folder) // sorted by name
	if err != nil {
		return nil, fmt.Errorf("list the backups of %s: %w", folder, err)
	}
	var all []string
	for _, e := range entries {
		if backed, _ := filepath.Match(backupGlob, e.Name()); backed {
			all = append(all, filepath.Join(folder, e.Name()))
		}
	}
	old := all[:max(0, len(all)-keep)]
	for _, path := range old {
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	return old, nil
}
