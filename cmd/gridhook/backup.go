package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/events/backup"
)

const recipientEnv = "GRIDHOOK_BACKUP_RECIPIENT"

func newBackupCommand(g *globals) *cobra.Command {
	var (
		to       []string
		retained int
	)
	cmd := &cobra.Command{
		Use: "backup FILE|FOLDER", Short: "Back up a running server into an encrypted file", Args: takes("the file or the folder"), GroupID: groupOperate,
		Long: `Back up everything that a running server or fleet has accepted, and everything that
it has stored, into one file. Nothing has to stop for it: the file is consistent.

The file is encrypted for the holders of keys that "gridhook backup keygen" makes. The
machine that makes backups needs the public half alone. "gridhook restore" puts it back.

In a folder the file's name has the time, and --keep deletes the oldest files.`,
		Example: `  gridhook backup keygen backup.key
  gridhook backup /backups/gridhook.backup --recipient age1...
  gridhook backup /backups/ --keep 14 --recipient age1...
  gridhook backup check /backups/gridhook.backup --identity backup.key`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if text := g.getenv(recipientEnv); len(to) == 0 && text != "" {
				to = strings.Split(text, ",")
			}
			if err := backup.CheckRecipients(to); err != nil {
				return usagef("%v", err)
			}
			path, folder := backupPath(args[0], time.Now())
			if retained != 0 && (!folder || retained < 0) {
				return usagef("--keep %d: it takes a number from 1, and a folder that exists in place of %s", retained, args[0])
			}
			c, err := g.connect()
			if err != nil {
				return err
			}
			size, err := g.takeBackup(cmd.Context(), c, path, to)
			if err != nil {
				return err
			}
			var deleted []string
			if retained > 0 {
				if deleted, err = deleteOldBackups(args[0], retained); err != nil {
					return err
				}
			}
			return g.show(map[string]any{"file": path, "bytes": size, "deleted": deleted}, func(w io.Writer) {
				row(w, "backed up into "+path+", "+bytesText(size))
				for _, old := range deleted {
					row(w, "deleted "+old)
				}
			})
		},
	}
	cmd.Flags().StringSliceVar(&to, "recipient", nil, "the `public keys` of those who can read it, with commas between them ("+recipientEnv+")")
	cmd.Flags().IntVar(&retained, "keep", 0, "the `number` of backups to keep in the folder; 0 deletes none")
	g.talks(cmd)
	cmd.AddCommand(newBackupKeygen(g), newBackupCheck(g))
	return cmd
}

// takeBackup writes a backup to a file. The file appears only when it is complete.
func (g *globals) takeBackup(ctx context.Context, c *client.Client, path string, to []string) (size int64, err error) {
	if _, err := os.Stat(path); err == nil {
		return 0, fmt.Errorf("%s is there already: name another file", path)
	}
	b, err := c.Backup(ctx, to)
	if err != nil {
		return 0, err
	}
	defer b.Close() //nolint:errcheck // it was read to its end or is of no use
	done := g.newProgress("", 0)
	defer done.end()
	speed := pace{time.Now()}
	return keep(path, &countingReader{r: b, each: func(n int64) {
		done.show(n, bytesText(n)+" backed up"+speed.words(n>>20, "MiB", n, 0))
	}})
}

// keep writes a file that appears only when it is complete and on disk.
func keep(path string, from io.Reader) (size int64, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".part-")
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	size, err = io.Copy(f, from)
	if err != nil {
		err = fmt.Errorf("the backup was cut off: %w; see the server's log", err)
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return 0, err
	}
	return size, os.Rename(f.Name(), path)
}

func newBackupKeygen(g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "keygen FILE", Short: "Make a key that opens backups, and print its public half", Args: takes("the file"),
		Example: `  gridhook backup keygen backup.key`,
		Long: `Make a key to backups: FILE gets the private half, which opens them. Keep it where
neither the server nor the backups are, as without it no backup can be read. What is
printed is the public half, for --recipient. It is a key of age (age-encryption.org).`,
		RunE: func(_ *cobra.Command, args []string) error {
			private, public, err := backup.NewKey()
			if err != nil {
				return err
			}
			f, err := os.OpenFile(args[0], os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) //nolint:gosec // the user names the file
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(f, "# the private key to backups for %s\n%s\n", public, private)
			if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
				return err
			}
			return g.show(map[string]string{"recipient": public, "file": args[0]}, func(w io.Writer) { row(w, public) })
		},
	}
}

func newBackupCheck(g *globals) *cobra.Command {
	var identity string
	cmd := &cobra.Command{
		Use: "check FILE", Short: "Read a backup through and check that it is whole", Args: takes("the file"),
		Example: `  gridhook backup check gridhook.backup --identity backup.key`,
		RunE: func(_ *cobra.Command, args []string) error {
			b, err := g.openBackup(args[0], identity)
			if err != nil {
				return err
			}
			return g.show(b, func(w io.Writer) { showBackup(w, b) })
		},
	}
	cmd.Flags().StringVar(&identity, "identity", "", "the `file` with the private key")
	_ = cmd.MarkFlagRequired("identity") // it was added the line before
	return cmd
}

func (g *globals) openBackup(path, identity string) (*backup.Backup, error) {
	keys, err := g.readFile(identity)
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
