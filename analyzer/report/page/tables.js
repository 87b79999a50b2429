// Tables: a click on a heading sorts by it.
for (const table of document.querySelectorAll('table.sortable')) {
  const body = table.tBodies[0];
  for (const heading of table.tHead.rows[0].cells) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = heading.textContent;
    heading.replaceChildren(button);
    button.addEventListener('click', () => {
      const down = heading.getAttribute('aria-sort') === 'descending' ? 1 : -1;
      for (const other of table.tHead.rows[0].cells) other.removeAttribute('aria-sort');
      heading.setAttribute('aria-sort', down < 0 ? 'descending' : 'ascending');
      const column = heading.cellIndex, numeric = heading.classList.contains('n');
      const key = (row) => {
        const cell = row.cells[column], content = cell.dataset.sort || cell.textContent;
        return numeric ? parseFloat(content) || 0 : content;
      };
      const rows = [...body.rows].map((row) => [key(row), row]);
      rows.sort((a, b) => down * (numeric ? a[0] - b[0] : String(a[0]).localeCompare(String(b[0]), 'en', { numeric: true })));
      body.append(...rows.map((r) => r[1]));
    });
  }
}

// A table that is cut off can be scrolled with the keys, too.
for (const frame of document.querySelectorAll('.scroll')) {
  const caption = frame.querySelector('caption');
  frame.tabIndex = 0;
  frame.setAttribute('role', 'region');
  frame.setAttribute('aria-label', (caption || frame.closest('section').querySelector('h2')).textContent);
}
